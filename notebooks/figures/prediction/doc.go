// Package prediction keeps what was predicted for the thesis's system-level numbers: by which code, and how far off it is.
//
// chapter*.csv has what the thesis published, one file for each chapter whose numbers are open. Beside each number stands the
// first prediction, which was made before the number was read; it never changes. Columns compare, claims and note say how the
// number is a ratio of two lines, which claims of figures an order consists of, and what is unexplained about it.
//
// recorded.json has the later predictions in named columns: baseline is what the code predicted before the second
// prediction was worked on, now is the second. `make predictions` writes it anew. Its format is that of
// `drtmx predict --json` without what is derived, and any such output can be read as a column (--with).
//
// How predictions are counted. A number of a system is compared as the ratio of two lines that it tells: 13 % more is 1.13, 33 %
// less is 0.67, a share of 69 % is 0.69, and a number with a unit of its own is itself. Of a range the end that is farther off
// counts. A limit counts as a number, a published 0 does not. What no system was measured for (kind hardware) does not count, and numbers
// about models alone (kind model), which are computed without a system, have a count of their own. An order has the worst
// verdict of the claims that it consists of, in all panels that measure them.
//
// Caveats. A row is stale if another code version made it, or if its figure takes other runs now; a changed sentence or
// tolerance of a claim makes no row stale. The recorded file is a part of the binary: a column that was just written is
// printed after the next build.
package prediction
