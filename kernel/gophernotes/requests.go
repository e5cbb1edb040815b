//go:build drtmxkernel

package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"
)

// maxWaiting is how many requests are taken in while one is handled: more cells than a notebook
// has. What comes beyond them waits in the socket.
const maxWaiting = 4096

// queueRequests receives requests from a socket, for ever, so that those that wait can be counted.
func (s *session) queueRequests(group SocketGroup, from Socket) <-chan msgReceipt {
	waiting := make(chan msgReceipt, maxWaiting)
	go func() {
		for {
			m, err := s.receive(group, from)
			if err != nil {
				klog.Print(err)
				continue
			}
			waiting <- m
		}
	}()
	return waiting
}

// loop has requests handled, for ever.
func loop(waiting <-chan msgReceipt, handle func(msgReceipt)) {
	for m := range waiting {
		m.publishStatus(kernelBusy)
		// A request that the interpreter stumbles over must not end all that the notebook has.
		if err := recovered(func() error { handle(m); return nil }); err != nil {
			klog.Printf("%s: %v", m.Msg.Header.MsgType, err)
		}
		m.publishStatus(kernelIdle)
	}
}

func (s *session) receive(group SocketGroup, from Socket) (m msgReceipt, err error) {
	msg, err := from.Socket.Recv()
	if err != nil {
		time.Sleep(10 * time.Millisecond) // a broken socket must not eat a core
		return m, err
	}
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("malformed message: %v", x)
		}
	}()
	c, ids, err := WireMsgToComposedMsg(msg.Frames, s.sockets.Key)
	return msgReceipt{c, ids, group}, err
}

func (m *msgReceipt) publishStatus(status string) {
	if err := m.PublishKernelStatus(status); err != nil {
		klog.Print(err)
	}
}

// answer replies, and has only the terminal to complain to if it cannot.
func (m *msgReceipt) answer(msgType string, content map[string]any) {
	if err := m.Reply(msgType, content); err != nil {
		klog.Print(err)
	}
}

// content is the request's body, empty if it is not an object.
func (m *msgReceipt) content() map[string]any {
	c, _ := m.Msg.Content.(map[string]any)
	return c
}

func (s *session) handleControl(m msgReceipt) {
	switch m.Msg.Header.MsgType {
	case "interrupt_request":
		s.interrupt()
		m.answer("interrupt_reply", map[string]any{"status": "ok"})
	default:
		s.handleEither(m)
	}
}

func (s *session) handleShell(m msgReceipt) {
	var err error
	given := s.given > 0 // up with the cell that failed
	s.given = max(s.given-1, 0)
	switch m.Msg.Header.MsgType {
	case "execute_request":
		if given {
			m.answer("execute_reply", map[string]any{"status": "aborted"})
			return
		}
		s.execute(m)
	case "complete_request":
		s.complete(m)
	case "is_complete_request":
		err = s.kernel.handleIsCompleteRequest(m)
	case "inspect_request":
		s.inspect(m)
	default:
		s.handleEither(m)
	}
	if err != nil {
		klog.Print(err)
	}
}

// handleEither handles what may come on both channels.
func (s *session) handleEither(m msgReceipt) {
	switch m.Msg.Header.MsgType {
	case "kernel_info_request":
		m.answer("kernel_info_reply", map[string]any{
			"status": "ok", "protocol_version": ProtocolVersion,
			"implementation": "gophernotes", "implementation_version": Version,
			"banner": "Go (gophernotes with drtmx)",
			"language_info": map[string]any{
				"name": "go", "version": runtime.Version(), "mimetype": "text/x-go",
				"file_extension": ".go", "pygments_lexer": "go", "codemirror_mode": "go",
			},
			"help_links": []any{},
		})
	case "shutdown_request":
		m.answer("shutdown_reply", map[string]any{"status": "ok", "restart": m.content()["restart"]})
		time.Sleep(20 * time.Millisecond) // the reply must leave the process first
		os.Exit(0)
	case "comm_info_request":
		m.answer("comm_info_reply", map[string]any{"status": "ok", "comms": map[string]any{}})
	case "history_request":
		m.answer("history_reply", map[string]any{"status": "ok", "history": []any{}})
	}
}

// Publish implements charts.Frontend: output goes to the cell that ran last.
func (s *session) Publish(msgType string, content map[string]any) error {
	s.mu.Lock()
	m := s.parent
	s.mu.Unlock()
	if m.Sockets.IOPubSocket.Socket == nil {
		return errors.New("no cell was run yet")
	}
	if msgType != "stream" {
		s.flush() // text written before comes before
	}
	return m.Publish(msgType, content)
}
