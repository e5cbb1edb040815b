package runs

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// disk is what is left of the files that SQLite writes when the machine loses its power: what it has synced. It stands between
// SQLite and its file system.
type disk struct {
	synced  map[string][]byte                        // by path
	paths   map[uintptr]string                       // of open files
	methods map[uintptr]*sqlite3.Tsqlite3_io_methods // ours, by those of SQLite

	functions []any
}

// at is the memory at a C pointer.
func at[T any](p uintptr) *T { return (*T)(*(*unsafe.Pointer)(unsafe.Pointer(&p))) }

// pointerTo is a Go function as C has it, and called the other way round.
func (d *disk) pointerTo(f any) uintptr {
	d.functions = append(d.functions, f) // C holds none of them
	return (*[2]uintptr)(unsafe.Pointer(&f))[1]
}

func called[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }

// losingPower has SQLite write through a disk until the test ends.
func losingPower(t *testing.T) *disk {
	d := &disk{synced: map[string][]byte{}, paths: map[uintptr]string{}, methods: map[uintptr]*sqlite3.Tsqlite3_io_methods{}}
	tls := libc.NewTLS()
	vfs := at[sqlite3.Tsqlite3_vfs](sqlite3.Xsqlite3_vfs_find(tls, 0))
	openFile, remove := vfs.FxOpen, vfs.FxDelete
	t.Cleanup(func() { vfs.FxOpen, vfs.FxDelete = openFile, remove; tls.Close() })
	vfs.FxOpen = d.pointerTo(func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
		code := called[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](openFile)(tls, vfs, name, file, flags, out)
		if code == sqlite3.SQLITE_OK && name != 0 {
			d.opened(libc.GoString(name), file)
		}
		return code
	})
	vfs.FxDelete = d.pointerTo(func(tls *libc.TLS, vfs, name uintptr, synced int32) int32 {
		if synced != 0 { // else the folder may still have the name
			delete(d.synced, libc.GoString(name))
		}
		return called[func(*libc.TLS, uintptr, uintptr, int32) int32](remove)(tls, vfs, name, synced)
	})
	return d
}

// opened has a file tell when it is synced.
func (d *disk) opened(path string, file uintptr) {
	f := at[sqlite3.Tsqlite3_file](file)
	if f.FpMethods == 0 {
		return
	}
	ours := d.methods[f.FpMethods]
	if ours == nil {
		theirs := at[sqlite3.Tsqlite3_io_methods](f.FpMethods)
		sync := called[func(*libc.TLS, uintptr, int32) int32](theirs.FxSync)
		own := *theirs
		own.FxSync = d.pointerTo(func(tls *libc.TLS, file uintptr, flags int32) int32 {
			code := sync(tls, file, flags)
			if b, err := os.ReadFile(d.paths[file]); code == sqlite3.SQLITE_OK && err == nil {
				d.synced[d.paths[file]] = b
			}
			return code
		})
		ours = &own
		d.methods[f.FpMethods] = ours
	}
	d.paths[file] = path
	f.FpMethods = uintptr(unsafe.Pointer(ours))
}

// left writes what is left of a store into a folder.
func (d *disk) left(t *testing.T, file, dir string) string {
	t.Helper()
	for _, end := range []string{"", "-wal", "-journal"} {
		if b, ok := d.synced[file+end]; ok {
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)+end), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return filepath.Join(dir, filepath.Base(file))
}

// The power fails in the moment in which a kept run or its note is acknowledged: it is on the disk by then, whatever
// journal the store has. A point that is only cached may be lost, and then the store is as it was before.
func TestKeptRunSurvivesAPowerFailure(t *testing.T) {
	for _, mode := range []journal{writeAhead, rollback} {
		t.Run(string(mode), func(t *testing.T) {
			d := losingPower(t)
			file := filepath.Join(t.TempDir(), "runs.db")
			s, err := openWith(file, mode)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if list, err := s.List(Filter{}); err != nil || len(list) > 0 {
				t.Fatal(list, err)
			}
			for i := range 5 {
				k, members, point, body := written("w", i)
				if err := s.Put(point, body); err != nil {
					t.Fatal(err)
				}
				id, err := s.Keep(k, members)
				if err != nil {
					t.Fatal(err)
				}
				after := func(what string, holds func(c *Store) bool) {
					t.Helper()
					c, err := openWith(d.left(t, file, t.TempDir()), mode)
					if err != nil {
						t.Fatal(err)
					}
					defer c.Close()
					if sound(t, c); !holds(c) {
						t.Errorf("run %d: %s is lost", i, what)
					}
				}
				after("it", func(c *Store) bool { _, err := c.Find(id); return err == nil })
				if err := s.Note(id, "other words"); err != nil {
					t.Fatal(err)
				}
				after("its note", func(c *Store) bool { k, err := c.Find(id); return err == nil && k.Note == "other words" })
			}
		})
	}
}
