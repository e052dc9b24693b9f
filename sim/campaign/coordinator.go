package campaign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

const (
	// chunkSeeds is how many seeds a worker takes at a time.
	chunkSeeds = 25
	// processSeeds is how many seeds one process runs before a fresh one takes
	// over, so that nothing a package keeps in its variables builds up.
	processSeeds = 500
)

// Coordinator hands ranges of seeds to worker processes.
type Coordinator struct {
	Command []string // starts a worker: a program that calls Work
	Env     []string // added to the environment
	Workers int
}

// Run gives every seed of the job to a worker and its outcome to each, one at a
// time but in no order. each returns false to stop early. A worker that dies
// costs its seed, whose outcome says so.
func (c *Coordinator) Run(job Job, each func(Outcome) bool) error {
	q := &seedQueue{job: job, left: job.Count, next: job.First, each: each}
	var done sync.WaitGroup
	for range max(c.Workers, 1) {
		done.Add(1)
		go func() {
			defer done.Done()
			for c.process(q) {
			}
		}()
	}
	done.Wait()
	if errors.Is(q.err, errStop) {
		return nil
	}
	return q.err
}

// seedQueue is what the workers share.
type seedQueue struct {
	mu       sync.Mutex
	job      Job
	next     uint64
	left     int
	returned []Job // rests of chunks
	each     func(Outcome) bool
	err      error
}

// take returns the next chunk; ok is false when there is none.
func (q *seedQueue) take() (j Job, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return Job{}, false
	}
	if n := len(q.returned); n > 0 {
		j = q.returned[n-1]
		q.returned = q.returned[:n-1]
		return j, true
	}
	if q.left == 0 {
		return Job{}, false
	}
	j = q.job
	j.First, j.Count = q.next, min(q.left, chunkSeeds)
	q.next += uint64(j.Count)
	q.left -= j.Count
	return j, true
}

func (q *seedQueue) deliver(o Outcome) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err == nil && !q.each(o) {
		q.err = errStop
	}
}

func (q *seedQueue) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err == nil {
		q.err = err
	}
}

// process runs one worker process over whole chunks, so that nothing it answers
// is thrown away, and reports whether another one has to go on.
func (c *Coordinator) process(q *seedQueue) bool {
	var j Job
	w, err := c.start()
	if err != nil {
		q.fail(err)
		return false
	}
	defer w.end()
	for ran := 0; ran < processSeeds || j.Count > 0; {
		if j.Count == 0 {
			var ok bool
			if j, ok = q.take(); !ok {
				return false
			}
		}
		o, err := w.run(&j)
		if err != nil {
			w.end()
			q.deliver(Outcome{Seed: j.First, Broken: fmt.Sprintf("%v: %s", err, w.stderr)})
			j.First, j.Count = j.First+1, j.Count-1
			q.giveBack(j)
			return true
		}
		q.deliver(o)
		ran++
	}
	return true
}

// giveBack returns the rest of a dead process's chunk for another one.
func (q *seedQueue) giveBack(j Job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if j.Count > 0 {
		q.returned = append(q.returned, j)
	}
}

// worker is one process.
type worker struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     io.Closer
	jobs    *json.Encoder
	answers *json.Decoder
	stderr  *tail
	asked   bool // the job at hand was sent
}

func (c *Coordinator) start() (*worker, error) {
	w := &worker{cmd: exec.Command(c.Command[0], c.Command[1:]...), stderr: &tail{}}
	w.cmd.Env = append(os.Environ(), c.Env...)
	w.cmd.Stderr = w.stderr
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWorker, err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWorker, err)
	}
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWorker, err)
	}
	w.in, w.out, w.jobs, w.answers = in, out, json.NewEncoder(in), json.NewDecoder(out)
	return w, nil
}

// run returns the outcome of the job's first seed and takes it off the job.
func (w *worker) run(j *Job) (Outcome, error) {
	var o Outcome
	if !w.asked {
		if err := w.jobs.Encode(j); err != nil {
			return o, fmt.Errorf("%w: %w", ErrWorker, err)
		}
		w.asked = true
	}
	if err := w.answers.Decode(&o); err != nil {
		return o, fmt.Errorf("%w: %w", ErrWorker, err)
	}
	if o.Seed != j.First {
		return o, fmt.Errorf("%w: answered seed %d for %d", ErrWorker, o.Seed, j.First)
	}
	j.First, j.Count = j.First+1, j.Count-1
	w.asked = j.Count > 0
	return o, nil
}

// end lets the process end by itself, by closing its input, and its output: an
// answer that nobody reads would keep it.
func (w *worker) end() {
	if w.cmd == nil {
		return
	}
	_ = w.in.Close()
	_ = w.out.Close()
	_ = w.cmd.Wait() // its outcomes were read, or its death is what is reported
	w.cmd = nil
}

// tail keeps the end of what is written to it.
type tail struct{ buf bytes.Buffer }

const tailBytes = 64 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.buf.Write(p)
	if over := t.buf.Len() - tailBytes; over > 0 {
		t.buf.Next(over)
	}
	return len(p), nil
}

func (t *tail) String() string { return t.buf.String() }
