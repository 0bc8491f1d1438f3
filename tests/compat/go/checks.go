package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/emptypb"
)

const (
	kindPoRep, kindSnap, kindWindow, kindWinning = 1, 2, 3, 4
	normal, high, critical                       = 2, 3, 4
	completed                                    = 1
)

var checks = []check{
	{"services by reflection", listsServices},
	{"health", isHealthy},
	{"status, and how much is queued", hasCapacity},
	{"status from 16 callers at once", manyStatusCalls},
	{"bad kind", badKind},
	{"no request inside", missingSubmit},
	{"PoRep", provesPoRep},
	{"the other kinds", otherKinds},
	{"eight proofs at once on one connection, and status", concurrentProofs},
	{"the same id again while the first runs, and after", sameIDAgain},
	{"deadline", deadline},
	{"context cancelled", cancelled},
	{"submit and await", submitAndAwait},
	{"await an unknown job", awaitUnknown},
	{"cancel an unknown job", cancelUnknown},
	{"keys and metrics", keysAndMetrics},
	{"message over the limit", overLimit},
	{"compressed request", compressed},
	{"unknown method", unknownMethod},
	{"a second connection", secondConnection},
}

func expectCode(err error, code codes.Code, part string) error {
	if status.Code(err) != code || !strings.Contains(status.Convert(err).Message(), part) {
		return fmt.Errorf("got %v, expected %v with %q", err, code, part)
	}
	return nil
}

func (o options) porep(id string, salt byte) fields {
	vanilla := o.c1
	if vanilla == nil {
		vanilla = bytes.Repeat([]byte{salt, 1, 2, 3}, 1<<20)
	}
	return fields{"submit": fields{"request_id": id, "proof_kind": kindPoRep, "priority": normal, "sector_size": 2048,
		"registered_proof": 5, "vanilla_proof": vanilla, "sector_number": 1, "miner_id": 1000}}
}

// proof is what an AwaitProofResponse holds, if it is as Curio wants it.
func proof(id string, m protoreflect.Message) ([]byte, error) {
	if state := get(m, "status").Enum(); state != completed {
		return nil, fmt.Errorf("status %d: %s", state, get(m, "error_message").String())
	}
	if job := get(m, "job_id").String(); job != id {
		return nil, fmt.Errorf("job id %q, expected %q", job, id)
	}
	bytes := get(m, "proof").Bytes()
	if len(bytes) == 0 || len(bytes)%192 != 0 {
		return nil, fmt.Errorf("a proof of %d bytes", len(bytes))
	}
	return bytes, nil
}

func (c *client) prove(ctx context.Context, request fields) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, proveDeadline)
	defer cancel()
	reply, err := c.call(ctx, "Prove", request)
	if err != nil {
		return nil, err
	}
	id := request["submit"].(fields)["request_id"].(string)
	return proof(id, get(reply, "result").Message())
}

func listsServices(_ context.Context, c *client, _ options) error {
	for _, name := range []string{serviceName, "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"} {
		if !strings.Contains(strings.Join(c.names, " "), name) {
			return fmt.Errorf("%s is not among %v", name, c.names)
		}
	}
	return nil
}

func isHealthy(ctx context.Context, c *client, _ options) error {
	for _, name := range []string{"", serviceName} {
		reply, err := healthpb.NewHealthClient(c.conn).Check(ctx, &healthpb.HealthCheckRequest{Service: name})
		if err != nil {
			return err
		}
		if reply.GetStatus() != healthpb.HealthCheckResponse_SERVING {
			return fmt.Errorf("%q is %v", name, reply.GetStatus())
		}
	}
	_, err := healthpb.NewHealthClient(c.conn).Check(ctx, &healthpb.HealthCheckRequest{Service: "no.such"})
	return expectCode(err, codes.NotFound, "")
}

func (c *client) queued(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, statusDeadline)
	defer cancel()
	reply, err := c.call(ctx, "GetStatus", nil)
	if err != nil {
		return 0, err
	}
	total := 0
	queues := get(reply, "queues").List()
	for i := range queues.Len() {
		q := queues.Get(i).Message()
		total += int(get(q, "pending").Uint() + get(q, "in_progress").Uint())
	}
	return total, nil
}

func hasCapacity(ctx context.Context, c *client, _ options) error {
	total, err := c.queued(ctx)
	if err == nil && total > 1000 {
		return fmt.Errorf("%d jobs in a server that nobody uses", total)
	}
	return err
}

// together runs n functions at once and returns their first error.
func together(n int, f func(int) error) error {
	var wait sync.WaitGroup
	errs := make(chan error, n)
	for i := range n {
		wait.Add(1)
		go func() {
			defer wait.Done()
			if err := f(i); err != nil {
				errs <- fmt.Errorf("caller %d: %w", i, err)
			}
		}()
	}
	wait.Wait()
	close(errs)
	return <-errs
}

func manyStatusCalls(ctx context.Context, c *client, _ options) error {
	return together(16, func(int) error {
		for range 50 {
			if _, err := c.queued(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

func badKind(ctx context.Context, c *client, o options) error {
	for _, kind := range []int{0, 5, 99} {
		request := o.porep("bad-kind", 0)
		request["submit"].(fields)["proof_kind"] = kind
		_, err := c.call(ctx, "Prove", request)
		if err := expectCode(err, codes.InvalidArgument, fmt.Sprintf("invalid proof_kind: %d", kind)); err != nil {
			return err
		}
	}
	return nil
}

func missingSubmit(ctx context.Context, c *client, _ options) error {
	_, err := c.call(ctx, "Prove", nil)
	return expectCode(err, codes.InvalidArgument, "missing submit field")
}

func provesPoRep(ctx context.Context, c *client, o options) error {
	_, err := c.prove(ctx, o.porep("porep-1000-1", 1))
	return err
}

// Ids and fields as Curio's tasks fill them. A server without these circuits answers with an error.
func otherKinds(ctx context.Context, c *client, o options) error {
	if o.c1 != nil {
		return errSkip
	}
	digest := bytes.Repeat([]byte{7}, 32)
	many := [][]byte{bytes.Repeat([]byte{1}, 100000), {}, bytes.Repeat([]byte{2}, 300000)}
	requests := []fields{
		{"request_id": "snap-1000-1", "proof_kind": kindSnap, "priority": normal, "sector_size": 2048,
			"registered_proof": 0, "vanilla_proofs": many, "sector_number": 1, "miner_id": 1000, "comm_r_old": digest,
			"comm_r_new": digest, "comm_d_new": digest},
		{"request_id": "wdpost-1000-0-[1 2 3 4 5 6 7 8]", "proof_kind": kindWindow, "priority": high,
			"sector_size": 2048, "registered_proof": 10, "vanilla_proofs": many, "miner_id": 1000, "randomness": digest,
			"partition_index": 3},
		{"request_id": "winpost-1000-0123456789abcdef", "proof_kind": kindWinning, "priority": critical,
			"sector_size": 2048, "registered_proof": 0, "vanilla_proofs": many, "miner_id": 1000, "randomness": digest},
		{"request_id": "ps-snap-1000-1-42", "proof_kind": kindSnap, "priority": normal, "vanilla_proofs": many},
	}
	for _, r := range requests {
		if _, err := c.prove(ctx, fields{"submit": r}); err != nil {
			return fmt.Errorf("%s: %w", r["request_id"], err)
		}
	}
	return nil
}

func concurrentProofs(ctx context.Context, c *client, o options) error {
	return together(12, func(i int) error {
		if i >= 8 {
			_, err := c.queued(ctx)
			return err
		}
		_, err := c.prove(ctx, o.porep(fmt.Sprintf("porep-1000-%d", 100+i), byte(i)))
		return err
	})
}

func sameIDAgain(ctx context.Context, c *client, o options) error {
	id := o.slow + "porep-1000-7"
	proofs := make([][]byte, 3)
	ask := func(i int) (err error) {
		proofs[i], err = c.prove(ctx, o.porep(id, 7))
		return err
	}
	if err := together(2, ask); err != nil {
		return err
	}
	if err := ask(2); err != nil {
		return err
	}
	if !bytes.Equal(proofs[0], proofs[1]) || !bytes.Equal(proofs[0], proofs[2]) {
		return fmt.Errorf("different proofs for one id and input")
	}
	return nil
}

// Curio's deadline passes, and its task tries the same id again.
func deadline(ctx context.Context, c *client, o options) error {
	if o.slow == "" {
		return errSkip
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err := c.call(short, "Prove", o.porep(o.slow+"porep-1000-8", 8))
	if err := expectCode(err, codes.DeadlineExceeded, ""); err != nil {
		return err
	}
	_, err = c.prove(ctx, o.porep(o.slow+"porep-1000-8", 8))
	return err
}

func cancelled(ctx context.Context, c *client, o options) error {
	if o.slow == "" {
		return errSkip
	}
	inner, cancel := context.WithCancel(ctx)
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := c.call(inner, "Prove", o.porep(o.slow+"porep-1000-9", 9))
	if err := expectCode(err, codes.Canceled, ""); err != nil {
		return err
	}
	_, err = c.queued(ctx)
	return err
}

func submitAndAwait(ctx context.Context, c *client, o options) error {
	request := o.porep("porep-1000-10", 10)["submit"].(fields)
	reply, err := c.call(ctx, "SubmitProof", request)
	if err != nil {
		return err
	}
	id := get(reply, "job_id").String()
	for range 2 { // a result may be fetched again
		reply, err = c.call(ctx, "AwaitProof", fields{"job_id": id})
		if err != nil {
			return err
		}
		if _, err := proof(id, reply); err != nil {
			return err
		}
	}
	return nil
}

func awaitUnknown(ctx context.Context, c *client, _ options) error {
	_, err := c.call(ctx, "AwaitProof", fields{"job_id": "no [such] job é"})
	return expectCode(err, codes.NotFound, "job not found: no [such] job é")
}

func cancelUnknown(ctx context.Context, c *client, _ options) error {
	reply, err := c.call(ctx, "CancelProof", fields{"job_id": "no-such-job"})
	if err == nil && get(reply, "was_running").Bool() {
		return fmt.Errorf("an unknown job was running")
	}
	return err
}

func keysAndMetrics(ctx context.Context, c *client, _ options) error {
	_, err := c.call(ctx, "PreloadSRS", fields{"circuit_id": "no-such-circuit"})
	if err := expectCode(err, codes.Internal, "unknown circuit ID: no-such-circuit"); err != nil {
		return err
	}
	if _, err = c.call(ctx, "EvictSRS", fields{"circuit_id": "porep-2k"}); err != nil {
		return err
	}
	reply, err := c.call(ctx, "GetMetrics", nil)
	if err == nil && !strings.Contains(get(reply, "prometheus_text").String(), "cuzk_") {
		return fmt.Errorf("no metrics in %q", get(reply, "prometheus_text").String())
	}
	return err
}

func overLimit(ctx context.Context, c *client, o options) error {
	request := o.porep("porep-1000-11", 0)
	request["submit"].(fields)["vanilla_proof"] = make([]byte, o.limit)
	_, err := c.call(ctx, "Prove", request, grpc.MaxCallSendMsgSize(o.limit+1<<20))
	return expectCode(err, codes.ResourceExhausted, fmt.Sprint(o.limit))
}

func compressed(ctx context.Context, c *client, o options) error {
	_, err := c.call(ctx, "Prove", o.porep("porep-1000-12", 0), grpc.UseCompressor(gzip.Name))
	return expectCode(err, codes.Unimplemented, "")
}

func unknownMethod(ctx context.Context, c *client, _ options) error {
	for _, path := range []string{"/" + serviceName + "/Nothing", "/no.such.Service/GetStatus"} {
		err := c.conn.Invoke(ctx, path, &emptypb.Empty{}, &emptypb.Empty{})
		if err := expectCode(err, codes.Unimplemented, ""); err != nil {
			return err
		}
	}
	return nil
}

func secondConnection(ctx context.Context, _ *client, o options) error {
	conn, err := dial(o.addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	other, err := newClient(ctx, conn)
	if err != nil {
		return err
	}
	_, err = other.prove(ctx, o.porep("porep-1000-13", 13))
	return err
}
