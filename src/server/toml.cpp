// The shim over toml++: parse, flatten, and let no exception out.
#include "server/toml.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace {
// What an assertion inside toml++ becomes: a table header such as "[=" fails one in 3.3.0, and a bad file is
// no reason to abort.
struct parser_defect {};
constexpr void require(bool holds) {
    if (!holds) throw parser_defect{};
}
} // namespace

#define TOML_EXCEPTIONS   0
#define TOML_HEADER_ONLY  1
#define TOML_ASSERT(expr) require(static_cast<bool>(expr))
#include <toml++/toml.h>

struct toml_document {
    std::vector<toml_item> items;
    std::deque<std::string> strings; // stable addresses for items to point at
    std::deque<std::vector<toml_item>> arrays;
};

namespace {

const char *keep(toml_document &d, std::string_view text) {
    return d.strings.emplace_back(text).c_str();
}

bool is_bare(std::string_view key) {
    return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '-';
    });
}

std::string join(const std::string &parent, std::string_view key) {
    std::string part = is_bare(key) ? std::string(key) : '"' + std::string(key) + '"';
    return parent.empty() ? part : parent + '.' + part;
}

struct flattener {
    toml_document &d;
    bool nul_found = false;
    toml::source_position nul_place = {};

    toml_item value(const toml::node &node, const std::string &name, toml::source_position place) {
        toml_item item = {};
        item.key = keep(d, name);
        item.line = place.line;
        item.column = place.column;
        if (auto *string = node.as_string()) {
            item.type = TOML_STRING;
            item.string = keep(d, string->get());
            if (string->get().find('\0') != std::string::npos) {
                nul_found = true;
                nul_place = place;
            }
        } else if (auto *integer = node.as_integer()) {
            item.type = TOML_INTEGER;
            item.integer = integer->get();
        } else if (auto *boolean = node.as_boolean()) {
            item.type = TOML_BOOLEAN;
            item.boolean = boolean->get();
        } else if (node.is_floating_point()) {
            item.type = TOML_REAL;
        } else if (auto *array = node.as_array()) {
            item.type = TOML_ARRAY;
            std::vector<toml_item> elements;
            for (const toml::node &element : *array)
                elements.push_back(value(element, "", element.source().begin));
            d.arrays.push_back(std::move(elements));
            item.elements = d.arrays.back().data();
            item.count = d.arrays.back().size();
        } else {
            item.type = node.is_table() ? TOML_TABLE : TOML_DATE;
        }
        return item;
    }

    void table(const toml::table &t, const std::string &parent) {
        for (auto &&[key, node] : t) {
            const std::string name = join(parent, key.str());
            d.items.push_back(value(node, name, key.source().begin));
            if (auto *inner = node.as_table()) table(*inner, name);
        }
    }
};

cuzk_code fail_at(cuzk_error *err, const char *name, toml::source_position place, const char *message) {
    const std::string path =
        std::string(name) + ':' + std::to_string(place.line) + ':' + std::to_string(place.column);
    return error_set(err, CUZK_ERR_INPUT, path.c_str(), CUZK_NO_OFFSET, "%s", message);
}

toml::source_position place_of(std::string_view text, size_t offset) {
    toml::source_position place = {1, 1};
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n')
            place = {place.line + 1, 1};
        else
            place.column += (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
    }
    return place;
}

bool has_defect(std::string_view text) {
    try {
        toml::parse_result ignored = toml::parse(text);
        return false;
    } catch (const parser_defect &) {
        return true;
    }
}

// The parser reads from front to back, so the shortest beginning that it cannot cope with ends at the fault.
cuzk_code fail_at_defect(cuzk_error *err, const char *name, std::string_view text) {
    size_t good = 0, bad = text.size();
    while (bad - good > 1) {
        size_t middle = good + (bad - good) / 2;
        (has_defect(text.substr(0, middle)) ? bad : good) = middle;
    }
    return fail_at(err, name, place_of(text, good), "expected the name of a section or key");
}

bool is_ascii(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Where the string that begins at `begin` ends, or the text when it does not.
size_t end_of_string(std::string_view text, size_t begin, bool &many_lines) {
    const char quote = text[begin];
    const std::string three(3, quote);
    many_lines = text.substr(begin, 3) == three;
    for (size_t i = begin + (many_lines ? 3 : 1); i < text.size(); i++) {
        if (text[i] == '\\' && quote == '"') {
            i++;
        } else if (many_lines && text.substr(i, 3) == three) {
            size_t end = i + 3; // two more quotes may belong to the string
            while (end < text.size() && end < i + 5 && text[end] == quote) end++;
            return end;
        } else if (!many_lines && (text[i] == quote || text[i] == '\n')) {
            return i + 1;
        }
    }
    return text.size();
}

// A quote after anything else is part of a word that is in error, and read to its end as one.
bool may_precede_string(char c) {
    return std::string_view(" \t\r\n=[{,.").find(c) != std::string_view::npos;
}

// The first character beyond ASCII that stands neither in a comment nor in a string of one line; npos when
// there is none. Elsewhere only strings of several lines may have them, and toml++ 3.3.0 has undefined
// behaviour when it asks whether such a character is a blank.
size_t misplaced_character(std::string_view text) {
    const size_t first = text.substr(0, 3) == "\xef\xbb\xbf" ? 3 : 0;
    size_t i = first;
    while (i < text.size()) {
        if (text[i] == '#') {
            i = std::min(text.find('\n', i), text.size());
        } else if ((text[i] == '"' || text[i] == '\'') && (i == first || may_precede_string(text[i - 1]))) {
            bool many_lines;
            size_t end = end_of_string(text, i, many_lines);
            while (many_lines && i < end && is_ascii(text.substr(i, 1))) i++;
            if (many_lines && i < end) return i;
            i = end;
        } else if (!is_ascii(text.substr(i, 1))) {
            return i;
        } else {
            i++;
        }
    }
    return std::string_view::npos;
}

cuzk_code parse(toml_document **out, const char *text, size_t size, const char *name, cuzk_error *err) {
    if (size > TOML_TEXT_MOST)
        return error_set(err, CUZK_ERR_INPUT, name, CUZK_NO_OFFSET, "%zu bytes, expected at most %zu", size,
                         TOML_TEXT_MOST);
    const size_t misplaced = misplaced_character(std::string_view(text, size));
    if (misplaced != std::string_view::npos)
        return fail_at(err, name, place_of(std::string_view(text, size), misplaced),
                       "a character that is not ASCII, expected only in comments and strings of one line");
    toml::parse_result result = toml::parse(std::string_view(text, size));
    if (!result)
        return fail_at(err, name, result.error().source().begin,
                       std::string(result.error().description()).c_str());
    auto d = std::make_unique<toml_document>();
    flattener f{*d};
    f.table(result.table(), "");
    if (f.nul_found) return fail_at(err, name, f.nul_place, "a string with a NUL character, expected text");
    std::stable_sort(d->items.begin(), d->items.end(), [](const toml_item &a, const toml_item &b) {
        return a.line != b.line ? a.line < b.line : a.column < b.column;
    });
    *out = d.release();
    return CUZK_OK;
}

} // namespace

cuzk_code toml_parse(toml_document **out, const char *text, size_t size, const char *name, cuzk_error *err) {
    *out = nullptr;
    try {
        return parse(out, text, size, name, err);
    } catch (const parser_defect &) {
        return fail_at_defect(err, name, std::string_view(text, size));
    } catch (const std::bad_alloc &) {
        return error_no_memory(err, size, "a TOML document");
    } catch (...) {
        return error_set(err, CUZK_ERR_INPUT, name, CUZK_NO_OFFSET, "cannot be read as TOML");
    }
}

void toml_free(toml_document *d) {
    delete d;
}

const toml_item *toml_items(const toml_document *d, size_t *n) {
    *n = d->items.size();
    return d->items.data();
}

const char *toml_type_name(toml_type type) {
    switch (type) {
    case TOML_STRING:
        return "a string";
    case TOML_INTEGER:
        return "an integer";
    case TOML_REAL:
        return "a number with a fraction";
    case TOML_BOOLEAN:
        return "true or false";
    case TOML_DATE:
        return "a date or time";
    case TOML_ARRAY:
        return "a list";
    case TOML_TABLE:
        return "a table";
    }
    return "a value";
}
