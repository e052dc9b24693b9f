// Package tools is the module of everything that helps to build and test Plexus
// and is no part of it: test servers that run as processes, their launcher, the
// container images of the same servers, code generators.
//
// It is a module of its own so that none of its dependencies enter the product's
// module graph.
package tools
