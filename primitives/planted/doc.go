// Package planted names the defects that a build with the tag "planted" can
// switch on, so that campaigns prove they would find them. Without the tag
// [Active] is the constant false and every planted branch disappears.
package planted
