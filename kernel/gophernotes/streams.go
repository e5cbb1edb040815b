//go:build drtmxkernel

package main

import (
	"bytes"
	"io"
	"log"
	"os"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// streamEvery collects output: notebook servers drop what comes in too
	// many messages.
	streamEvery = 40 * time.Millisecond
	streamMax   = 256 << 10
)

// flushMark, written into a stream, comes out when all before it is published.
var flushMark = []byte("\x00\x16drtmx-flush\x16\x00")

// stream is standard output or standard error on its way to the notebook.
type stream struct {
	name    string
	w       *os.File
	flushed chan struct{}
	publish func(text string)
	pending []byte
}

// redirect sends standard output and error to the notebook for good, so that
// goroutines that outlive their cell are heard.
func (s *session) redirect() error {
	for _, name := range []string{StreamStdout, StreamStderr} {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		st := &stream{name: name, w: w, flushed: make(chan struct{})}
		st.publish = func(text string) {
			if err := s.Publish("stream", map[string]any{"name": name, "text": text}); err != nil {
				klog.Print(err, ": ", text)
			}
		}
		chunks := make(chan []byte, 64)
		go readChunks(r, chunks)
		go st.collect(chunks)
		s.streams = append(s.streams, st)
	}
	os.Stdout, os.Stderr = s.streams[0].w, s.streams[1].w
	log.SetOutput(os.Stderr) // for notebooks that log; the kernel itself uses klog
	return nil
}

func readChunks(r io.Reader, chunks chan<- []byte) {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		if err != nil {
			close(chunks)
			return
		}
		chunks <- bytes.Clone(buf[:n])
	}
}

// collect publishes what comes in, after a moment or when it is much.
func (st *stream) collect(chunks <-chan []byte) {
	timer := time.NewTimer(time.Hour)
	armed := false
	for {
		select {
		case c, ok := <-chunks:
			if !ok {
				return
			}
			st.add(c)
			if len(st.pending) > 0 && !armed {
				timer.Reset(streamEvery)
				armed = true
			}
		case <-timer.C:
			armed = false
			st.emit(st.whole())
		}
	}
}

func (st *stream) add(c []byte) {
	st.pending = append(st.pending, c...)
	for {
		i := bytes.Index(st.pending, flushMark)
		if i < 0 {
			break
		}
		st.emit(i)
		st.pending = st.pending[len(flushMark):]
		st.flushed <- struct{}{}
	}
	if len(st.pending) > streamMax {
		st.emit(st.whole())
	}
}

// emit publishes the first n bytes.
func (st *stream) emit(n int) {
	if n > 0 {
		st.publish(string(st.pending[:n]))
		st.pending = bytes.Clone(st.pending[n:])
	}
}

// whole is the length of the pending output without a part of the flush mark or of a character at its
// end: a message is text of its own, where half a character is none.
func (st *stream) whole() int {
	n := len(st.pending) - markPrefix(st.pending)
	for at := n - 1; at >= max(0, n-utf8.UTFMax+1); at-- {
		if utf8.RuneStart(st.pending[at]) {
			if !utf8.FullRune(st.pending[at:n]) {
				return at
			}
			break
		}
	}
	return n
}

// markPrefix is the length of the part of the flush mark at the end of b: a
// read may have cut the mark in two.
func markPrefix(b []byte) int {
	for n := min(len(flushMark)-1, len(b)); n > 0; n-- {
		if bytes.HasSuffix(b, flushMark[:n]) {
			return n
		}
	}
	return 0
}

var flushing sync.Mutex

// flush waits until all that was written has been published.
func (s *session) flush() {
	flushing.Lock()
	defer flushing.Unlock()
	for _, st := range s.streams {
		if _, err := st.w.Write(flushMark); err == nil {
			<-st.flushed
		}
	}
}
