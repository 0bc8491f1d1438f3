// The shim over toml++: parse, flatten, and let no exception out.
#include "server/toml.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#define TOML_EXCEPTIONS  0
#define TOML_HEADER_ONLY 1
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

cuzk_code parse(toml_document **out, const char *text, size_t size, const char *name, cuzk_error *err) {
    if (size > TOML_TEXT_MOST)
        return error_set(err, CUZK_ERR_INPUT, name, CUZK_NO_OFFSET, "%zu bytes, expected at most %zu", size,
                         TOML_TEXT_MOST);
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
