import { useEffect, useState, useSyncExternalStore } from "react"
import { followRun, type RunFollower, type RunView } from "./RunFollower.ts"
import type { RunLog } from "./RunLog.ts"

const idle: RunView = { count: 0, head: 0, snapshot: undefined, phase: "connecting", error: undefined }
const emptyStore = { subscribe: () => () => {}, get: () => idle }

/** Follows a run while the component is mounted. `again` starts from the beginning, after a failure. */
export const useRun = (
  runId: string
): { readonly log: RunLog | undefined; readonly view: RunView; readonly again: () => void } => {
  const [attempt, setAttempt] = useState(0)
  const [follower, setFollower] = useState<RunFollower>()
  useEffect(() => {
    const started = followRun(runId, () => setAttempt((before) => before + 1))
    setFollower(started)
    return started.stop
  }, [runId, attempt])
  const store = follower?.view ?? emptyStore
  const view = useSyncExternalStore(store.subscribe, store.get)
  return { log: follower?.log, view, again: () => setAttempt((before) => before + 1) }
}
