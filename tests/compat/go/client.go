package main

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"google.golang.org/grpc"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

const serviceName = "cuzk.v1.ProvingEngine"

// client calls the service by messages that reflection describes.
type client struct {
	conn    *grpc.ClientConn
	service protoreflect.ServiceDescriptor
	names   []string // of the server's services
}

type fields map[string]any

func newClient(ctx context.Context, conn *grpc.ClientConn) (*client, error) {
	stream, err := reflectionpb.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	if err != nil {
		return nil, err
	}
	ask := func(r *reflectionpb.ServerReflectionRequest) (*reflectionpb.ServerReflectionResponse, error) {
		if err := stream.Send(r); err != nil {
			return nil, err
		}
		return stream.Recv()
	}
	c := &client{conn: conn}
	list, err := ask(&reflectionpb.ServerReflectionRequest{
		MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{ListServices: "*"}})
	if err != nil {
		return nil, err
	}
	for _, s := range list.GetListServicesResponse().GetService() {
		c.names = append(c.names, s.GetName())
	}
	sort.Strings(c.names)
	answer, err := ask(&reflectionpb.ServerReflectionRequest{
		MessageRequest: &reflectionpb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: serviceName}})
	if err != nil {
		return nil, err
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	files := answer.GetFileDescriptorResponse().GetFileDescriptorProto()
	if len(files) != 1 {
		return nil, fmt.Errorf("%d files, expected 1: %v", len(files), answer)
	}
	var file descriptorpb.FileDescriptorProto
	if err := proto.Unmarshal(files[0], &file); err != nil {
		return nil, err
	}
	described, err := protodesc.NewFile(&file, nil)
	if err != nil {
		return nil, err
	}
	if c.service = described.Services().ByName("ProvingEngine"); c.service == nil {
		return nil, errors.New("the file lacks the service")
	}
	return c, nil
}

// set fills a message; a nested message is given as fields, a list of bytes as [][]byte.
func set(m *dynamicpb.Message, values fields) {
	for name, value := range values {
		field := m.Descriptor().Fields().ByName(protoreflect.Name(name))
		if field == nil {
			panic("no field " + name)
		}
		switch v := value.(type) {
		case fields:
			inner := dynamicpb.NewMessage(field.Message())
			set(inner, v)
			m.Set(field, protoreflect.ValueOfMessage(inner))
		case [][]byte:
			list := m.Mutable(field).List()
			for _, item := range v {
				list.Append(protoreflect.ValueOfBytes(item))
			}
		case int:
			switch field.Kind() {
			case protoreflect.EnumKind:
				m.Set(field, protoreflect.ValueOfEnum(protoreflect.EnumNumber(v)))
			case protoreflect.Uint32Kind:
				m.Set(field, protoreflect.ValueOfUint32(uint32(v)))
			default:
				m.Set(field, protoreflect.ValueOfUint64(uint64(v)))
			}
		default:
			m.Set(field, protoreflect.ValueOf(value))
		}
	}
}

// call makes one unary call.
func (c *client) call(ctx context.Context, method string, request fields, opts ...grpc.CallOption) (*dynamicpb.Message, error) {
	m := c.service.Methods().ByName(protoreflect.Name(method))
	if m == nil {
		return nil, fmt.Errorf("no method %s", method)
	}
	in, out := dynamicpb.NewMessage(m.Input()), dynamicpb.NewMessage(m.Output())
	set(in, request)
	err := c.conn.Invoke(ctx, "/"+serviceName+"/"+method, in, out, opts...)
	return out, err
}

func get(m protoreflect.Message, name string) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(name)))
}
