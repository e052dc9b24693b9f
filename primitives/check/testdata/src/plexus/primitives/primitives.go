// Package primitives is a stand-in with the names that the rules know.
package primitives

import "context"

type World interface{ Clock() Clock }
type Clock interface{ Now() Instant }
type Instant int64
type UUID [16]byte
type Entropy interface{ Read([]byte) (int, error) }
type Net interface {
	Dial(ctx context.Context, addr string, by Instant) (int, error)
}
type Queue[T any] struct{}

func NewQueue[T any](w World, capacity int) *Queue[T]         { return nil }
func (q *Queue[T]) Send(ctx context.Context, v T) error       { return nil }
func (q *Queue[T]) Recv(ctx context.Context) (v T, err error) { return }
func (q *Queue[T]) TrySend(v T) bool                          { return false }

type Mutex struct{}

func (m *Mutex) Lock(ctx context.Context) error { return nil }
func (m *Mutex) Unlock()                        {}

type Group struct{}

func (g *Group) Wait(ctx context.Context) error { return nil }

type Case struct{}

func Select(ctx context.Context, w World, cases ...Case) (int, error) { return 0, nil }
func SortedKeys[K ~string, V any](m map[K]V) []K                      { return nil }
