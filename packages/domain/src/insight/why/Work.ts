import type { TaskRecord } from "../../policies/SessionRecord.ts"
import type { Act } from "../Act.ts"
import { saysOf } from "./Claims.ts"

/** The report that ends a task, or the refusal that leaves it without an assignee, as a sentence. */
export const taskText = (acts: ReadonlyArray<Act>, { assignee, report }: TaskRecord): string | undefined =>
  sentence(
    report === undefined
      ? acts.findLast(({ type }) => type === "TaskReject")
      : acts.find(({ by, type }) => by === assignee && (type === "TaskComplete" || type === "TaskFail"))
  )

/** The answer to a handoff that supports this outcome, else the last one, as a sentence. */
export const handoffText = (acts: ReadonlyArray<Act>, positive: boolean): string | undefined => {
  const answers = acts.filter(({ type }) => type === "HandoffAccept" || type === "HandoffDecline")
  const wanted = positive ? "HandoffAccept" : "HandoffDecline"
  return sentence(answers.findLast(({ type }) => type === wanted) ?? answers.at(-1))
}

const sentence = (act: Act | undefined): string | undefined => act && `${act.by} ${saysOf(act)}`
