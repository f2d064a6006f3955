import type { NewMark } from "@runplane/domain"
import { call } from "../../client/Client.ts"
import { problemOf } from "../../client/Problem.ts"
import { newId } from "../../view/format/NewId.ts"
import { makeStore } from "../../view/live/Store.ts"
import {
  changed,
  dropped,
  type GivenMark,
  type GivenMarks,
  given,
  isOfSubject,
  unstored
} from "../../view/review/Review.ts"

/** The marks that were given in this tab. They outlive the page: a reviewer who leaves it loses no mark. */
export const givenMarks = makeStore<GivenMarks>([])

const change = (key: string, with_: Partial<GivenMark>) => givenMarks.set(changed(givenMarks.get(), key, with_))
const find = (key: string) => givenMarks.get().find((mark) => mark.key === key)
const messageOf = (error: unknown) => problemOf(error, "").messages.join("; ")

const onLeave = (event: BeforeUnloadEvent) => event.preventDefault()

givenMarks.subscribe(() => {
  if (unstored(givenMarks.get()).length > 0) window.addEventListener("beforeunload", onLeave)
  else window.removeEventListener("beforeunload", onLeave)
})

/** Comments that were typed before a value was chosen, by run and name. */
export const drafts = new Map<string, string>()

/** The end of the last call of each subject: a later mark must reach the service after the earlier one. */
const calls = new Map<string, Promise<void>>()

const inOrder = ({ mark, runId }: GivenMark, act: () => Promise<void>): Promise<void> => {
  const subject = JSON.stringify([runId, mark.target, mark.name])
  const next = (calls.get(subject) ?? Promise.resolve()).then(act)
  calls.set(subject, next)
  return next
}

const store = async (key: string, renew: (runId: string) => Promise<unknown>): Promise<void> => {
  const found = find(key)
  if (found === undefined || found.id !== undefined) return
  change(key, { state: "storing", problem: undefined })
  try {
    const payload = { ...found.mark, idempotencyKey: key }
    const { id } = await call((api) => api.marks.add({ params: { id: found.runId }, payload }))
    change(key, { state: "stored", id })
  } catch (error) {
    change(key, { state: "failed", problem: messageOf(error) })
  }
  await renew(found.runId)
}

/** Shows the mark at once and stores it. It replaces an earlier one of the same run, target and name. */
export const give = (
  runId: string,
  title: string,
  by: string,
  mark: NewMark,
  renew: (runId: string) => Promise<unknown>
): void => {
  const key = newId()
  const others = givenMarks.get().filter((other) => !isOfSubject(other, runId, mark))
  givenMarks.set(given(others, { key, runId, title, by, mark }))
  const found = find(key)
  if (found !== undefined) void inOrder(found, () => store(key, renew))
}

/** Forgets a stored mark that was deleted elsewhere. */
export const forget = ({ key }: GivenMark): void => givenMarks.set(dropped(givenMarks.get(), key))

/** Stores a mark that failed. */
export const retry = (mark: GivenMark, renew: (runId: string) => Promise<unknown>): void =>
  void inOrder(mark, () => store(mark.key, renew))

/** Removes a mark: from the service when it is stored there, where the mark before it is current again. */
export const undo = (mark: GivenMark, renew: (runId: string) => Promise<unknown>): void => {
  const { key, runId } = mark
  change(key, { isRemoving: true, problem: undefined })
  void inOrder(mark, async () => {
    const id = find(key)?.id
    try {
      if (id !== undefined) {
        await call((api) => api.marks.remove({ params: { id: runId, markId: id }, query: { restore: true } }))
      }
      // The page shows the mark until it has read the marks without it.
      await renew(runId)
      givenMarks.set(dropped(givenMarks.get(), key))
    } catch (error) {
      change(key, { isRemoving: false, problem: messageOf(error) })
    }
  })
}
