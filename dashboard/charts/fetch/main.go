// Command fetch takes the chart library echarts from npm and puts it,
// compressed, where package charts embeds it.
//
//	go run ./dashboard/charts/fetch [-require]
//
// It does nothing when the library is there already. The file is compared with
// a digest kept here, whatever registry npm is set up to use. Without npm it
// says so and succeeds, for charts work without the library; -require makes
// that a failure.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	version = "5.6.0"
	member  = "package/dist/echarts.min.js"
	digest  = "bf4a223524e40b77c304bec67e1222cf551f14880cf42c69dc046558e11c07b1"
	target  = "dashboard/charts/assets/echarts.min.js.gz"
)

func main() {
	require := flag.Bool("require", false, "fail when the library cannot be had")
	flag.Parse()
	if err := fetch(); err != nil {
		fmt.Fprintf(os.Stderr, "echarts: %v; charts will be static pictures\n", err)
		if *require {
			os.Exit(1)
		}
	}
}

func fetch() error {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	file := filepath.Join(strings.TrimSpace(string(root)), filepath.FromSlash(target))
	if present(file) {
		return nil
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return errors.New("npm is not installed")
	}
	tmp, err := os.MkdirTemp("", "echarts")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	cmd := exec.Command("npm", "pack", "--silent", "echarts@"+version)
	cmd.Dir, cmd.Stderr = tmp, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm pack echarts@%s: %w", version, err)
	}
	src, err := extract(filepath.Join(tmp, "echarts-"+version+".tgz"))
	if err != nil {
		return err
	}
	return write(file, src)
}

// present reports whether the right library is there already.
func present(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return false
	}
	b, err := io.ReadAll(z)
	return err == nil && verify(b) == nil
}

func verify(b []byte) error {
	sum := sha256.Sum256(b)
	if got := hex.EncodeToString(sum[:]); got != digest {
		return fmt.Errorf("%s has digest %s, expected %s", member, got, digest)
	}
	return nil
}

func extract(tgz string) ([]byte, error) {
	f, err := os.Open(tgz)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tgz, err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			return nil, fmt.Errorf("%s: find %s: %w", tgz, member, err)
		}
		if h.Name != member {
			continue
		}
		b, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", tgz, err)
		}
		return b, verify(b)
	}
}

func write(file string, src []byte) error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(src); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	part := file + ".part" // never a half file under the name that is embedded
	if err := os.WriteFile(part, b.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(part, file)
}
