package catalog

import (
	"iter"
	"strings"

	"github.com/zeebo/xxh3"
)

// tree is an ordered, persistent map. An update copies the path to the root and
// shares the rest, so a snapshot of a state costs nothing and a reader never
// waits. The shape is a treap whose priorities are hashes of the keys: it depends
// on the content only, not on the order of updates.
type tree[V any] struct{ root *treeNode[V] }

type treeNode[V any] struct {
	key         string
	priority    uint64
	size        int
	value       V
	left, right *treeNode[V]
}

func (n *treeNode[V]) count() int {
	if n == nil {
		return 0
	}
	return n.size
}

// with returns a copy of n with other children.
func (n *treeNode[V]) with(left, right *treeNode[V]) *treeNode[V] {
	c := *n
	c.left, c.right = left, right
	c.size = 1 + left.count() + right.count()
	return &c
}

func (t tree[V]) len() int { return t.root.count() }

func (t tree[V]) get(key string) (v V, ok bool) {
	for n := t.root; n != nil; {
		switch strings.Compare(key, n.key) {
		case 0:
			return n.value, true
		case -1:
			n = n.left
		default:
			n = n.right
		}
	}
	return v, false
}

func (t tree[V]) set(key string, v V) tree[V] {
	return tree[V]{insert(t.root, &treeNode[V]{key: key, priority: xxh3.HashString(key), size: 1, value: v})}
}

func (t tree[V]) delete(key string) tree[V] { return tree[V]{remove(t.root, key)} }

func insert[V any](n, x *treeNode[V]) *treeNode[V] {
	switch {
	case n == nil:
		return x
	case n.key == x.key:
		return x.with(n.left, n.right)
	case above(x, n):
		left, right := split(n, x.key)
		return x.with(left, right)
	case x.key < n.key:
		return n.with(insert(n.left, x), n.right)
	default:
		return n.with(n.left, insert(n.right, x))
	}
}

// above orders two nodes of a path; keys break ties so the shape stays unique.
func above[V any](x, n *treeNode[V]) bool {
	return x.priority > n.priority || x.priority == n.priority && x.key < n.key
}

// split parts n at a key that may be in it; an equal key is dropped, because the
// caller replaces it.
func split[V any](n *treeNode[V], key string) (left, right *treeNode[V]) {
	switch {
	case n == nil:
		return nil, nil
	case n.key == key:
		return n.left, n.right
	case n.key < key:
		l, r := split(n.right, key)
		return n.with(n.left, l), r
	default:
		l, r := split(n.left, key)
		return l, n.with(r, n.right)
	}
}

func remove[V any](n *treeNode[V], key string) *treeNode[V] {
	switch {
	case n == nil:
		return nil
	case key < n.key:
		left := remove(n.left, key)
		if left == n.left {
			return n
		}
		return n.with(left, n.right)
	case key > n.key:
		right := remove(n.right, key)
		if right == n.right {
			return n
		}
		return n.with(n.left, right)
	default:
		return merge(n.left, n.right)
	}
}

func merge[V any](left, right *treeNode[V]) *treeNode[V] {
	switch {
	case left == nil:
		return right
	case right == nil:
		return left
	case above(left, right):
		return left.with(left.left, merge(left.right, right))
	default:
		return right.with(merge(left, right.left), right.right)
	}
}

// all yields the entries in key order.
func (t tree[V]) all() iter.Seq2[string, V] { return t.from("") }

// from yields the entries with keys at or after start in key order.
func (t tree[V]) from(start string) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) { walk(t.root, start, yield) }
}

func walk[V any](n *treeNode[V], start string, yield func(string, V) bool) bool {
	if n == nil {
		return true
	}
	if n.key >= start {
		if !walk(n.left, start, yield) || !yield(n.key, n.value) {
			return false
		}
	}
	return walk(n.right, start, yield)
}

// prefix yields the entries whose keys begin with p in key order.
func (t tree[V]) prefix(p string) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for k, v := range t.from(p) {
			if !strings.HasPrefix(k, p) || !yield(k, v) {
				return
			}
		}
	}
}
