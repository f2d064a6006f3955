// Starts a program with a heap for the memory that it may use, in the image and in units of systemd:
//
//   node scripts/heap/start.mjs PROGRAM [ARGUMENTS]
//
// The program replaces this process: it keeps the id, and signals reach it at once.
import { heapFlagsHere } from "./flags.mjs"

const fail = (reason) => {
  console.error(reason)
  process.exit(2)
}

const [program, ...args] = process.argv.slice(2)
if (program === undefined) fail("usage: node start.mjs PROGRAM [ARGUMENTS]")
if (process.execve === undefined) {
  fail(`Node ${process.versions.node} on ${process.platform} cannot replace a process; start ${program} without this`)
}
const { env, execArgv, execPath } = process
process.execve(execPath, [execPath, ...execArgv, ...heapFlagsHere(), program, ...args], env)
