/** Between two looks at the parent. Milliseconds. */
const INTERVAL_MS = 500

/**
 * Ends this process in order when the npx that started it has ended. npx runs a command through a shell, and a signal
 * to npx ends the two alone: the program would go on, with its ports and its database.
 */
export const endWithNpx = () => {
  if (process.env["npm_lifecycle_event"] !== "npx") return
  const shell = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(watch)
    process.kill(process.pid, "SIGTERM")
  }, INTERVAL_MS)
  watch.unref()
}
