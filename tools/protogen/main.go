// Command protogen writes the Go code of the repository's .proto files. It
// compiles them with protocompile and generates with the library half of
// protoc-gen-go, so nothing but the Go tool chain is needed.
//
//	protogen -root .. engine/catalog/catalogpb/catalog.proto ...
//
// The output stands beside each input as NAME_gen.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/cmd/protoc-gen-go/internal_gengo"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	root := flag.String("root", ".", "repository root; inputs are relative to it")
	flag.Parse()
	if err := run(*root, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func run(root string, inputs []string) error {
	for _, input := range inputs {
		if err := generate(root, input); err != nil {
			return fmt.Errorf("%s: %w", input, err)
		}
	}
	return nil
}

// withImports lists a file behind everything it imports, each once.
func withImports(file protoreflect.FileDescriptor, list []*descriptorpb.FileDescriptorProto) []*descriptorpb.FileDescriptorProto {
	imports := file.Imports()
	for i := range imports.Len() {
		list = withImports(imports.Get(i).FileDescriptor, list)
	}
	for _, listed := range list {
		if listed.GetName() == file.Path() {
			return list
		}
	}
	return append(list, protodesc.ToFileDescriptorProto(file))
}

// generate writes one file. What it imports goes into the request with it.
func generate(root, input string) error {
	compiler := protocompile.Compiler{
		Resolver:       &protocompile.SourceResolver{ImportPaths: []string{root}},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(context.Background(), input)
	if err != nil {
		return err
	}
	request := &pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{input},
		Parameter:      proto.String("paths=source_relative"),
		ProtoFile:      withImports(files[0], nil),
	}
	internal_gengo.GenerateVersionMarkers = false
	plugin, err := protogen.Options{}.New(request)
	if err != nil {
		return err
	}
	for _, file := range plugin.Files {
		if file.Generate {
			internal_gengo.GenerateFile(plugin, file)
		}
	}
	response := plugin.Response()
	if response.Error != nil {
		return fmt.Errorf("generate: %s", response.GetError())
	}
	for _, out := range response.File {
		name := strings.TrimSuffix(out.GetName(), ".pb.go") + "_gen.go"
		if err := os.WriteFile(filepath.Join(root, name), []byte(out.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
