package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Origin says where a value came from.
type Origin string

// Value is one setting of a loaded configuration, for people.
type Value struct {
	Name, Text string
	Origin     Origin
}

// masked stands for a secret.
const masked = "<masked>"

// The origins that have no place of their own.
const (
	FromDefault Origin = "default"
	FromFlag    Origin = "flag"
)

// UsageError says that a value cannot be used, and where it stands.
type UsageError struct {
	Place string // "--drain-timeout", "PLEXUS_DRAIN_TIMEOUT", "plexus.conf:3"
	Err   error
}

func (e *UsageError) Error() string { return e.Place + ": " + e.Err.Error() }

func (e *UsageError) Unwrap() error { return e.Err }

var (
	// ErrUnknown says that there is no such setting.
	ErrUnknown = errors.New("unknown setting")
	// ErrDuplicate says that a setting was given twice in one place.
	ErrDuplicate = errors.New("given twice")
	// ErrNoValue says that a flag lacks its value.
	ErrNoValue = errors.New("needs a value")
	// ErrSyntax says that a line of the file is no "flag-name = value".
	ErrSyntax = errors.New(`expected "name = value"`)
	// ErrArgument says that an argument is no flag.
	ErrArgument = errors.New("unexpected argument")
)

// Inputs are what a configuration is loaded from.
type Inputs struct {
	Args []string
	// Env looks an environment variable up.
	Env func(name string) (string, bool)
	// ReadFile returns the content of the file that --config names.
	ReadFile func(name string) ([]byte, error)
}

// fileFlag names the file; it is no setting of its own.
const fileFlag = "config"

// Load reads the configuration and says of every setting where it came from.
func Load(in Inputs) (*Config, []Value, error) {
	c := Default()
	origins := map[string]Origin{}
	flags, err := parseArgs(in.Args)
	if err != nil {
		return nil, nil, err
	}
	file, named := flags[fileFlag]
	if !named {
		file, named = in.Env(variable(fileFlag))
	}
	if named {
		if err := c.loadFile(file, in.ReadFile, origins); err != nil {
			return nil, nil, err
		}
	}
	for _, s := range settings {
		if text, ok := in.Env(variable(s.name)); ok {
			if err := s.read(c, text); err != nil {
				return nil, nil, &UsageError{Place: variable(s.name), Err: err}
			}
			origins[s.name] = Origin(variable(s.name))
		}
		if text, ok := flags[s.name]; ok {
			if err := s.read(c, text); err != nil {
				return nil, nil, &UsageError{Place: "--" + s.name, Err: err}
			}
			origins[s.name] = FromFlag
		}
	}
	if err := c.Check(); err != nil {
		return nil, nil, err
	}
	return c, c.values(origins), nil
}

// variable is the environment variable of a flag.
func variable(name string) string {
	return "PLEXUS_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// clientVariables belong to the client tool, which often runs beside the node.
var clientVariables = []string{"PLEXUS_SERVER", "PLEXUS_DOMAIN", "PLEXUS_USERNAME", "PLEXUS_PASSWORD"}

// Strangers returns the variables of an environment, given as "NAME=value", that
// look like settings and are none, sorted. They are no error, because platforms put
// variables of their own under the name of a service; but a misspelled setting must
// not go unnoticed.
func Strangers(environment []string) []string {
	known := append([]string{variable(fileFlag)}, clientVariables...)
	for _, s := range settings {
		known = append(known, variable(s.name))
	}
	var strangers []string
	for _, entry := range environment {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, variable("")) && !slices.Contains(known, name) {
			strangers = append(strangers, name)
		}
	}
	slices.Sort(strangers)
	return strangers
}

// parseArgs reads "--name value", "--name=value" and "--name" of a toggle.
func parseArgs(args []string) (map[string]string, error) {
	flags := map[string]string{}
	for i := 0; i < len(args); i++ {
		name, isFlag := strings.CutPrefix(args[i], "--")
		if !isFlag {
			return nil, &UsageError{Place: args[i], Err: ErrArgument}
		}
		name, value, hasValue := strings.Cut(name, "=")
		s := find(name)
		switch {
		case s == nil && name != fileFlag:
			return nil, &UsageError{Place: "--" + name, Err: ErrUnknown}
		case hasValue:
		case s != nil && s.boolean:
			value = "true"
		case i+1 == len(args):
			return nil, &UsageError{Place: "--" + name, Err: ErrNoValue}
		default:
			i++
			value = args[i]
		}
		if _, twice := flags[name]; twice {
			return nil, &UsageError{Place: "--" + name, Err: ErrDuplicate}
		}
		flags[name] = value
	}
	return flags, nil
}

func (c *Config) loadFile(name string, read func(string) ([]byte, error), origins map[string]Origin) error {
	content, err := read(name)
	if err != nil {
		return &UsageError{Place: "--" + fileFlag, Err: err}
	}
	seen := map[string]bool{}
	for number, line := range strings.Split(string(content), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		place := fmt.Sprintf("%s:%d", name, number+1)
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			return &UsageError{Place: place, Err: ErrSyntax}
		}
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		s := find(key)
		switch {
		case s == nil:
			return &UsageError{Place: place, Err: fmt.Errorf("%w '%s'", ErrUnknown, key)}
		case seen[key]:
			return &UsageError{Place: place, Err: fmt.Errorf("'%s' is %w", key, ErrDuplicate)}
		}
		seen[key] = true
		if err := s.read(c, value); err != nil {
			return &UsageError{Place: place, Err: fmt.Errorf("%s: %w", key, err)}
		}
		origins[key] = Origin(place)
	}
	return nil
}

func (c *Config) values(origins map[string]Origin) []Value {
	values := make([]Value, 0, len(settings))
	for _, s := range settings {
		v := Value{Name: s.name, Text: s.text(c), Origin: FromDefault}
		if origin, ok := origins[s.name]; ok {
			v.Origin = origin
		}
		if s.secret && v.Text != "" {
			v.Text = masked
		}
		values = append(values, v)
	}
	return values
}

// Help describes every flag, one line each.
func Help() string {
	var b strings.Builder
	for _, s := range settings {
		fmt.Fprintf(&b, "  --%-26s %s", s.name, s.help)
		if s.fallback != "" && !s.boolean {
			fmt.Fprintf(&b, " (%s)", s.fallback)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
