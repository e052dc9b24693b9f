package harness

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cucumber/godog"
)

// Options select what runs.
type Options struct {
	World string
	// Nodes are the node counts whose examples run.
	Nodes string
	Tags  string
	// Seeds is the number of schedules per scenario in a simulated world.
	Seeds int
	// Seed is the base every scenario's seeds derive from.
	Seed uint64
	// Job names the lines of required.txt that must hold.
	Job string
	// Skips is a file that receives the table of skips.
	Skips string
	// Artifacts is the directory for what failed scenarios leave behind.
	Artifacts string
}

// Flags registers the options on the flag set of a test binary.
func Flags(set *flag.FlagSet) *Options {
	o := &Options{}
	set.StringVar(&o.World, "world", "sim", "sim, local or containers")
	set.StringVar(&o.Nodes, "nodes", "1,3", "node counts whose examples run")
	set.StringVar(&o.Tags, "scenarios", "~@slow", "tag expression")
	set.IntVar(&o.Seeds, "seeds", 1, "schedules per scenario in a simulated world")
	set.Uint64Var(&o.Seed, "seed", 1, "base of the seeds")
	set.StringVar(&o.Job, "job", "", "lines of required.txt that must hold")
	set.StringVar(&o.Skips, "skips", "", "file that receives the table of skips")
	set.StringVar(&o.Artifacts, "keep", "", "directory for what failed scenarios leave behind")
	return o
}

// Run is one pass over the features in one world.
type Run struct {
	options Options
	world   World
	ledger  ledger
}

// NewRun prepares a pass in the world.
func NewRun(o Options, w World) *Run { return &Run{options: o, world: w} }

// Features returns the feature files below the directory, in order.
func Features(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.feature"))
	slices.Sort(files)
	return files, err
}

// Feature runs one file once per seed. Real worlds spend their time waiting, so they
// run as many files beside each other as there are processors; simulations are alone
// in their process.
func (r *Run) Feature(t *testing.T, file string) {
	if r.world.Lacks("seeds") != "" {
		t.Parallel()
	}
	for index := range r.schedules() {
		if r.schedules() == 1 {
			r.suite(t, file, index)
			continue
		}
		t.Run(fmt.Sprintf("seed %d", index+1), func(t *testing.T) { r.suite(t, file, index) })
	}
}

// schedules is 1 in worlds where a seed selects nothing.
func (r *Run) schedules() int {
	if r.world.Lacks("seeds") != "" {
		return 1
	}
	return max(r.options.Seeds, 1)
}

func (r *Run) suite(t *testing.T, file string, index int) {
	var report bytes.Buffer
	suite := godog.TestSuite{
		Name:                file,
		ScenarioInitializer: func(sc *godog.ScenarioContext) { r.scene(sc, file, index) },
		Options: &godog.Options{
			Format:   "pretty",
			Output:   &report,
			NoColors: true,
			Paths:    []string{file},
			Tags:     r.options.Tags,
			Strict:   true,
			TestingT: t,
		},
	}
	if suite.Run() != 0 {
		t.Logf("%s", report.String())
		t.Fail()
	}
}

// scene prepares the hooks and steps of one scenario.
func (r *Run) scene(sc *godog.ScenarioContext, file string, index int) {
	s := &Scene{
		run: r, systems: map[string]System{}, produced: map[string]*tally{}, arrived: map[string]*tally{}, baselines: map[string]float64{},
		roles: map[string]Node{}, owners: map[string]string{}, pending: map[string]*pending{},
	}
	sc.Before(func(ctx context.Context, scenario *godog.Scenario) (context.Context, error) {
		s.scenario = r.identify(file, scenario, index)
		tags := s.scenario.Tags
		reason, missing := r.reasonToSkip(s.scenario, scenario)
		r.ledger.add(outcome{feature: s.scenario.Feature, scenario: scenario.Name, nodes: s.scenario.Nodes, tags: tags, skipped: reason, missing: missing})
		if reason != "" {
			return ctx, godog.ErrSkip
		}
		stage, err := r.world.Open(s.scenario)
		if err != nil {
			return ctx, fmt.Errorf("opening the stage: %w", err)
		}
		s.stage = stage
		return ctx, nil
	})
	sc.StepContext().Before(func(ctx context.Context, step *godog.Step) (context.Context, error) {
		s.step = step.Text
		return ctx, nil
	})
	sc.After(func(ctx context.Context, _ *godog.Scenario, err error) (context.Context, error) {
		if s.stage == nil {
			return ctx, nil
		}
		if closing := s.close(err != nil); closing != nil {
			return ctx, fmt.Errorf("after the last step: %w", closing)
		}
		return ctx, nil
	})
	s.defineSteps(sc)
}

func (s *Scene) defineSteps(sc *godog.ScenarioContext) {
	s.clusterSteps(sc)
	s.languageSteps(sc)
	s.systemSteps(sc)
	s.httpSteps(sc)
	s.subscriptionSteps(sc)
	s.stateSteps(sc)
	s.observationSteps(sc)
	s.toolSteps(sc)
}

var clusterStep = regexp.MustCompile(`^a cluster of (\d+) nodes?\b`)

// identify derives what makes this example of this scenario unique.
func (r *Run) identify(file string, scenario *godog.Scenario, index int) Scenario {
	hash := sha256.New()
	feature := filepath.ToSlash(filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file)))
	nodes := 0
	fmt.Fprintf(hash, "%s\n%s\n%d\n%d\n", feature, scenario.Name, r.options.Seed, index)
	for _, step := range scenario.Steps {
		fmt.Fprintln(hash, step.Text)
		if m := clusterStep.FindStringSubmatch(step.Text); m != nil {
			nodes, _ = strconv.Atoi(m[1])
		}
	}
	sum := hash.Sum(nil)
	s := Scenario{
		Feature: feature,
		Name:    scenario.Name,
		Nodes:   nodes,
		Seed:    binary.BigEndian.Uint64(sum),
		ID:      hex.EncodeToString(sum[8:11]),
		Tags:    tagNames(scenario),
	}
	if r.options.Artifacts != "" {
		name := strings.Map(func(c rune) rune {
			if c == ' ' || c == '/' {
				return '-'
			}
			return c
		}, fmt.Sprintf("%s-%s-%d-%s", strings.TrimSuffix(feature, ".feature"), scenario.Name, nodes, s.ID))
		s.Folder = filepath.Join(r.options.Artifacts, r.world.Name(), name)
	}
	return s
}

func tagNames(scenario *godog.Scenario) []string {
	var tags []string
	for _, tag := range scenario.Tags {
		tags = append(tags, strings.TrimPrefix(tag.Name, "@"))
	}
	return tags
}

// reasonToSkip returns why the scenario does not run, "" if it does, and the tag
// that asks for what is missing.
func (r *Run) reasonToSkip(s Scenario, scenario *godog.Scenario) (reason, missing string) {
	for _, tag := range s.Tags {
		if kind, ok := strings.CutPrefix(tag, "needs:"); ok {
			if reason := r.world.Missing(kind); reason != "" {
				return fmt.Sprintf("no %s: %s", kind, reason), tag
			}
		}
		if reason := r.world.Lacks(tag); reason != "" {
			return reason, tag
		}
	}
	if s.Nodes > 0 && !slices.Contains(strings.Split(r.options.Nodes, ","), strconv.Itoa(s.Nodes)) {
		return fmt.Sprintf("examples of %d nodes are not selected", s.Nodes), ""
	}
	several, grows := "", false
	for _, step := range scenario.Steps {
		several = cmp.Or(several, severalPattern.FindString(step.Text))
		grows = grows || growthPattern.MatchString(step.Text)
	}
	switch {
	case max(s.Nodes, 1) > ClusterNodesMax || grows && ClusterNodesMax == 1:
		return "clusters of several nodes are not formed yet", ""
	case s.Nodes == 1 && several != "" && !grows:
		return fmt.Sprintf("a cluster of one has not what %q speaks of", several), ""
	}
	return "", ""
}

// constants are tokens whose value the stage decides.
func (r *Run) constants(s *Scene) map[string]string {
	values := map[string]string{"<world>": r.world.Name()}
	if nodes := s.stage.Nodes(); len(nodes) > 0 {
		values["<endpoint>"] = nodes[0].EndpointAddress()
	}
	if c, ok := s.stage.(Commands); ok {
		for name, value := range c.Places() { //plexus:orderfree copied into a map
			values["<"+name+">"] = value
		}
	}
	return values
}

// Finish prints the table of skips, checks what the job requires and returns the
// exit code of the test binary.
func (r *Run) Finish(code int, required string) int {
	table := r.ledger.Table(r.world.Name())
	fmt.Print(table)
	if r.options.Skips != "" {
		if err := os.WriteFile(r.options.Skips, []byte(table), 0o644); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	if err := r.world.Close(); err != nil {
		fmt.Println("closing the world:", err)
		code = max(code, 1)
	}
	if r.options.Job == "" {
		return code
	}
	missing, err := r.ledger.Required(required, r.options.Job)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for _, item := range missing {
		fmt.Printf("required by job %s but not run: %s\n", r.options.Job, item)
		code = max(code, 1)
	}
	return code
}
