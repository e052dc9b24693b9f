package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"text/template"
	"time"

	"vitess.io/vitess/go/vt/sqlparser"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/nspltest"
	"plexus/nspl/parse"
	"plexus/nspl/render"
)

const statementCount = 10_000

// task is one way to read or write a text.
type task struct {
	name   string
	bytes  int
	run    func() error
	perCPU []float64 // MB per CPU second
}

// statements measures how fast the language is read and printed, beside an SQL
// parser on statements of the same size, for orientation.
func statements(rounds int) error {
	ours, peers, err := languages()
	if err != nil {
		return err
	}
	tasks := slices.Concat(ours, peers)
	for round := range rounds + 1 {
		for _, t := range tasks {
			runtime.GC()
			start, times := cpuTime(), 0
			for used := time.Duration(0); used < 500*time.Millisecond; used = cpuTime() - start {
				if err := t.run(); err != nil {
					return fmt.Errorf("%s: %w", t.name, err)
				}
				times++
			}
			if round > 0 {
				t.perCPU = append(t.perCPU, float64(times)*float64(t.bytes)/1e6/(cpuTime()-start).Seconds())
			}
		}
	}
	fmt.Printf("\nread and print %d statements; medians of %d rounds in turns\n\n%-28s %14s\n", statementCount, rounds, "", "MB/CPU second")
	for _, t := range tasks {
		fmt.Printf("%-28s %14.1f\n", t.name, median(t.perCPU))
	}
	for i := range ours {
		fmt.Printf("ratio of %s: %.1f\n", ours[i].name, median(ours[i].perCPU)/median(peers[i].perCPU))
	}
	return nil
}

// languages returns our tasks and the peer's, of which the same places do the same.
func languages() (ours, peers []*task, err error) {
	script := nspltest.Script(statementCount)
	list, err := parse.Statements(script)
	if err != nil {
		return nil, nil, err
	}
	var print []func() string
	for _, s := range list {
		d, ok := s.(ast.Declaration)
		if !ok {
			print = append(print, func() string { return render.Statement(s) })
			continue
		}
		e, found := model.Lower(d)
		if err := found.Err(); err != nil {
			return nil, nil, err
		}
		print = append(print, func() string { return render.Entity(e) })
	}
	printed := 0
	for _, text := range print {
		printed += len(text())
	}
	ours = []*task{
		{name: "plexus, read", bytes: len(script), run: func() error {
			_, err := parse.Statements(script)
			return err
		}},
		{name: "plexus, print", bytes: printed, run: func() error {
			for _, text := range print {
				if text() == "" {
					return fmt.Errorf("nothing is printed")
				}
			}
			return nil
		}},
	}
	parser, err := sqlparser.New(sqlparser.Options{})
	if err != nil {
		return nil, nil, err
	}
	sql := sqlStatements()
	read, size, out := make([]sqlparser.Statement, len(sql)), 0, 0
	for i, text := range sql {
		if read[i], err = parser.Parse(text); err != nil {
			return nil, nil, err
		}
		size += len(text)
		out += len(sqlparser.String(read[i]))
	}
	peers = []*task{
		{name: "vitess sqlparser, read", bytes: size, run: func() error {
			for _, text := range sql {
				if _, err := parser.Parse(text); err != nil {
					return err
				}
			}
			return nil
		}},
		{name: "vitess sqlparser, print", bytes: out, run: func() error {
			for _, s := range read {
				if sqlparser.String(s) == "" {
					return fmt.Errorf("nothing is printed")
				}
			}
			return nil
		}},
	}
	return ours, peers, nil
}

// sqlStatements are tables, views and queries that say about what our script says.
func sqlStatements() (list []string) {
	families := template.Must(template.New("").Parse(`
create table reading_{{.}} (site varchar(64) not null, machine bigint unsigned not null, at datetime(6) not null, temperature double not null, pressure double, state varchar(16) not null, primary key (site, machine, at))
create table alert_{{.}} (site varchar(64) not null, machine bigint unsigned not null, at datetime(6) not null, level varchar(16) not null, text varchar(256) not null)
create table summary_{{.}} (samples bigint not null, mean double not null, hottest double not null)
create view clean_{{.}} as select site, machine, at, temperature, pressure, state from reading_{{.}} where temperature > -273.15 and state <> '' and (state = 'running' or state = 'starting')
insert into alert_{{.}} (site, machine, at, level, text) select r.site, r.machine, r.at, case when r.temperature > 120.0 then 'critical' else 'warning' end, concat('machine ', cast(r.machine as char), ' of ', upper(r.site), ' is hot') from clean_{{.}} as r where r.temperature > 90.0 and coalesce(r.pressure, 0.0) < 1000000.0
insert into summary_{{.}} (samples, mean, hottest) select count(r.temperature), avg(r.temperature), max(r.temperature) from clean_{{.}} as r where r.at > now() - interval 5 minute group by r.machine having count(r.temperature) > 3 order by r.machine limit 100
select a.site, a.machine, a.at, a.level from alert_{{.}} as a join reading_{{.}} as r on a.machine = r.machine and a.at = r.at where a.level = 'critical' and r.pressure is not null and r.pressure > 0.0
alter table alert_{{.}} add column line varchar(16) not null default '{{.}}'
`))
	for family := 0; len(list) < statementCount; family++ {
		var b strings.Builder
		if err := families.Execute(&b, family); err != nil {
			panic(err)
		}
		list = append(list, strings.Split(strings.TrimSpace(b.String()), "\n")...)
	}
	return list[:statementCount]
}
