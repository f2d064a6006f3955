// The size of the heap for the memory that a process may use; docs/reference/operations.md (Memory) has the figures.
// Dependency-free, and for any Node from 18 on: `npm start` imports it before anything is installed.
import { totalmem } from "node:os"

const MIB = 1024 * 1024

/** MiB of the old generation: the most that V8 itself makes of a large container. */
const MOST = 4096
/**
 * MiB of the old generation on a machine without a limit. From 2,048 on, V8 lets the heap grow to four times of what
 * lives in it before the next major collection; below, to twice at most, and the less the smaller the limit.
 */
const MOST_WITHOUT_LIMIT = 2000

/** MiB of one half of the young generation, which takes three times as much, and the memory from which it is more. */
const SEMI_SPACE = 16
const SMALL_SEMI_SPACE = 8
const SMALL_MEMORY = 512

const OLD_SPACE = /--max[-_](old[-_]space[-_]size|heap[-_]size)/
const SEMI_SPACE_SIZE = /--max[-_]semi[-_]space[-_]size/

/**
 * The flags of Node for a process. Memory is in bytes: `limit` is that of its cgroup, 0 or more than `machine` where
 * there is none. `given` has the flags that the process gets anyway; a size that they name stays.
 */
export const heapFlags = ({ given, limit, machine }) => {
  const isLimited = limit > 0 && limit < machine
  const memory = Math.floor((isLimited ? limit : machine) / MIB)
  const oldSpace = Math.min(Math.floor(memory / 2), isLimited ? MOST : MOST_WITHOUT_LIMIT)
  const semiSpace = memory < SMALL_MEMORY ? SMALL_SEMI_SPACE : SEMI_SPACE
  return [
    ...(OLD_SPACE.test(given) ? [] : [`--max-old-space-size=${oldSpace}`]),
    ...(SEMI_SPACE_SIZE.test(given) ? [] : [`--max-semi-space-size=${semiSpace}`])
  ]
}

/** The flags for a program that this process starts. Before Node 18.15 the limit of a cgroup is unknown. */
export const heapFlagsHere = () =>
  heapFlags({
    given: [process.env.NODE_OPTIONS ?? "", ...process.execArgv].join(" "),
    limit: process.constrainedMemory?.() ?? 0,
    machine: totalmem()
  })
