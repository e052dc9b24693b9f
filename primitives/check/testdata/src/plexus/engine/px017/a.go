package px017

import (
	"context"

	"plexus/primitives"
)

func refused(ctx context.Context, w primitives.World, q *primitives.Queue[int], m *primitives.Mutex) error {
	q.Send(context.Background(), 1)      // want `PX017: Queue.Send cannot be cancelled`
	primitives.Select(context.TODO(), w) // want `PX017: Select cannot be cancelled`
	if err := m.Lock(ctx); err != nil {
		return err
	}
	if _, err := q.Recv(ctx); err != nil { // want `PX017: Queue.Recv while a primitives.Mutex is held`
		return err
	}
	m.Unlock()
	return nil
}

func refusedDeferred(ctx context.Context, q *primitives.Queue[int], m *primitives.Mutex) error {
	if err := m.Lock(ctx); err != nil {
		return err
	}
	defer m.Unlock()
	return q.Send(ctx, 1) // want `PX017: Queue.Send while a primitives.Mutex is held`
}

func accepted(ctx context.Context, n primitives.Net, q *primitives.Queue[int], m *primitives.Mutex, g *primitives.Group) error {
	if err := m.Lock(ctx); err != nil {
		return err
	}
	q.TrySend(1)
	m.Unlock()
	n.Dial(context.Background(), "x", 5)
	g.Wait(context.Background())
	return q.Send(ctx, 1)
}
