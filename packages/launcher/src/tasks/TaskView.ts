import type { DecisionWhy, Run, RunCard, RunSeal } from "@runplane/api"
import {
  type A2aPart,
  dataPart,
  isFinal,
  isTerminal,
  MARKDOWN_TYPE,
  RecordedLaunch,
  type RunStatus,
  textPart,
  type VerdictState
} from "@runplane/domain"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { JsonObject } from "../common/Json.ts"
import type { OpenQuestion, TaskRow } from "./TaskRows.ts"
import type { Artifact, Message, Task, TaskState, TaskStatus } from "./TaskWire.ts"

/** What a run has to say about its task. */
export interface SeenRun {
  readonly run: typeof Run.Type
  /** Undefined while the run goes on. */
  readonly card: typeof RunCard.Type | undefined
  readonly questions: ReadonlyArray<OpenQuestion>
}

/** What the artifacts of a decided task are made of. */
export interface Decided {
  readonly why: typeof DecisionWhy.Type
  readonly card: typeof RunCard.Type
  readonly markdown: string
  /** Content of the runtime's receipt; undefined without one. */
  readonly receipt: JsonObject | undefined
  readonly seal: typeof RunSeal.Type | undefined
}

const DECIDED: ReadonlySet<VerdictState> = new Set(["for", "against", "decided"])

/**
 * The state of a task whose run is there. Pure.
 *
 * given a run that has ended with a commitment, for or against, then the task is completed;
 * given one that was cancelled, then it is canceled; given any other end, then it has failed.
 */
export const stateOfRun = (status: RunStatus, verdict: VerdictState | undefined): TaskState => {
  if (status === "cancelled") return "TASK_STATE_CANCELED"
  if (isTerminal(status)) {
    return verdict !== undefined && DECIDED.has(verdict) ? "TASK_STATE_COMPLETED" : "TASK_STATE_FAILED"
  }
  return status === "running" || status === "suspended" ? "TASK_STATE_WORKING" : "TASK_STATE_SUBMITTED"
}

const iso = (unixMs: number): string => new Date(unixMs).toISOString()

const questionText = ({ assigned, deadlineUnixMs, seat }: OpenQuestion): string =>
  `the seat ${seat} waits for an answer of ${assigned.join(" or ")}` +
  (deadlineUnixMs === undefined ? "" : ` until ${iso(deadlineUnixMs)}`)

/** What the task waits for, or how it has ended, in words. */
export const statusText = ({ card, questions, run }: SeenRun): string => {
  const { errorCode, errorMessage, status } = run
  switch (stateOfRun(status, card?.verdict)) {
    case "TASK_STATE_SUBMITTED":
      return "the session is not open yet"
    case "TASK_STATE_WORKING":
      return [
        status === "suspended" ? "the session is suspended" : "the session is open",
        ...questions.map(questionText)
      ].join("; ")
    case "TASK_STATE_CANCELED":
      return errorMessage ?? "the run was cancelled"
    case "TASK_STATE_COMPLETED":
      return cardText(card)
    default:
      return [
        ...(card === undefined || card.verdict === "open" ? [] : [cardText(card)]),
        ...(errorMessage === undefined ? [] : [`${errorCode ?? "error"}: ${errorMessage}`])
      ].join("; ")
  }
}

const cardText = (card: typeof RunCard.Type | undefined): string =>
  card === undefined ? "" : [card.word, ...card.sentences.map(({ text }) => text)].join(". ").replaceAll("..", ".")

export const agentMessage = (
  { contextId, id }: Pick<TaskRow, "contextId" | "id">,
  what: string,
  parts: ReadonlyArray<A2aPart>
): Message => ({ messageId: `${id}:${what}`, contextId, taskId: id, role: "ROLE_AGENT", parts })

/** The status of a task with a text. */
export const statusOf = (
  row: TaskRow,
  state: TaskState,
  atUnixMs: number,
  text: string,
  what?: string
): TaskStatus => ({
  state,
  timestamp: iso(atUnixMs),
  ...(text !== "" && { message: agentMessage(row, what ?? state, [textPart(text)]) })
})

/** The status of a task without a run that can be read. */
export const statusWithoutRun = (row: TaskRow, parts?: ReadonlyArray<A2aPart>): TaskStatus =>
  parts === undefined
    ? statusOf(row, row.state, row.stateAtUnixMs, row.reason ?? (isFinal(row.state) ? "" : "the launch is under way"))
    : { state: row.state, timestamp: iso(row.stateAtUnixMs), message: agentMessage(row, "inputs", parts) }

/** When the state of a run was reached: its end, else its last change. Unix milliseconds. */
export const stateTimeOf = ({ endedAt, startedAt, updatedAt, createdAt }: typeof Run.Type): number =>
  Date.parse(endedAt ?? startedAt ?? updatedAt ?? createdAt)

const decodeLaunch = Schema.decodeUnknownOption(RecordedLaunch)

const inputsIn = ({ metadata }: typeof Run.Type): JsonObject | undefined =>
  Option.getOrUndefined(decodeLaunch(metadata["launch"]))?.inputs

/** The message that was launched, from the inputs of its run, or of the row before there is a run. */
const historyOf = (row: TaskRow, run: typeof Run.Type | undefined): ReadonlyArray<Message> => {
  const inputs = (run === undefined ? undefined : inputsIn(run)) ?? row.inputs
  if (inputs === undefined) return []
  const { contextId, id, messageId } = row
  return [{ messageId, contextId, taskId: id, role: "ROLE_USER", parts: [dataPart(inputs)] }]
}

export interface TaskParts {
  readonly status: TaskStatus
  readonly run: typeof Run.Type | undefined
  readonly artifacts: ReadonlyArray<Artifact>
  readonly historyLength: number | undefined
  /** Address of the page of a run. */
  readonly pageOf: (runId: string) => string | undefined
}

/** The task as clients get it. `metadata.index` is the event that it includes. */
export const taskOf = (row: TaskRow, { artifacts, historyLength, pageOf, run, status }: TaskParts): Task => {
  const history = historyOf(row, run).slice(0, historyLength)
  const page = run === undefined ? undefined : pageOf(run.id)
  return {
    id: row.id,
    contextId: row.contextId,
    status,
    ...(artifacts.length > 0 && { artifacts }),
    ...(history.length > 0 && { history }),
    metadata: {
      index: run?.lastEventIndex ?? 0,
      ...(row.scenarioRef !== undefined && { scenarioRef: row.scenarioRef }),
      ...(run !== undefined && { runId: run.id }),
      ...(page !== undefined && { page })
    }
  }
}

const decodeObject = Schema.decodeUnknownSync(Schema.JsonObject)

/** An answer of the control plane as JSON: its absent members are absent keys. */
const jsonOf = (value: object): JsonObject => decodeObject(JSON.parse(JSON.stringify(value)))

/** The artifacts of a decided task (docs/reference/a2a.md#artifacts). */
export const artifactsOf = ({ card, markdown, receipt, seal, why }: Decided): ReadonlyArray<Artifact> => {
  const { modeName, outcome, policySource, policyVersion } = why
  return [
    {
      artifactId: "decision",
      name: "decision",
      description: "What was decided, under which policy, and why",
      parts: [
        textPart(markdown, MARKDOWN_TYPE),
        dataPart({
          verdict: card.verdict,
          word: card.word,
          ...(outcome !== null && { outcome: jsonOf(outcome) }),
          policy: { version: policyVersion, source: policySource, modeName },
          record: jsonOf(why)
        })
      ]
    },
    ...(receipt === undefined
      ? []
      : [
          {
            artifactId: "receipt" as const,
            name: "receipt",
            description: "The receipt of the runtime for the commitment, with the keys that it names",
            parts: [dataPart(receipt)]
          }
        ]),
    ...(seal === undefined
      ? []
      : [
          {
            artifactId: "seal" as const,
            name: "seal",
            description: "The signed head of the hash chain over all events of the run",
            parts: [dataPart(jsonOf(seal))]
          }
        ])
  ]
}
