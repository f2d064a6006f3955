import type * as Schema from "effect/Schema"
import type { AgUiInterrupt } from "./Interrupts.ts"

/** The version of the AG-UI protocol that the events follow. */
export const AG_UI_PROTOCOL_VERSION = "1.0"

/** The members of every event. `timestamp` is in milliseconds since 1970. */
interface Base<Type extends string> {
  readonly type: Type
  readonly timestamp?: number
  readonly metadata?: Schema.JsonObject
}

/** An operation of a JSON Patch (RFC 6902). */
export type PatchOperation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: Schema.Json }
  | { readonly op: "remove"; readonly path: string }

/** Tokens of all model calls of a run. */
export interface AgUiUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly totalTokens: number
}

/** The events of AG-UI 1.0 that a run becomes (docs/reference/ag-ui.md). */
export type AgUiEvent =
  | (Base<"RUN_STARTED"> & { readonly threadId: string; readonly runId: string; readonly protocolVersion: string })
  | (Base<"RUN_FINISHED"> & {
      readonly threadId: string
      readonly runId: string
      readonly outcome:
        | { readonly type: "success" | "cancelled" }
        | { readonly type: "interrupt"; readonly interrupts: ReadonlyArray<AgUiInterrupt> }
      readonly result: Schema.JsonObject
      readonly usage?: ReadonlyArray<AgUiUsage>
    })
  | (Base<"RUN_ERROR"> & {
      readonly message: string
      readonly code: string
      readonly usage?: ReadonlyArray<AgUiUsage>
    })
  | (Base<"STEP_STARTED" | "STEP_FINISHED"> & { readonly stepName: string })
  | (Base<"TEXT_MESSAGE_START"> & { readonly messageId: string; readonly role: "assistant"; readonly name?: string })
  | (Base<"TEXT_MESSAGE_CONTENT"> & { readonly messageId: string; readonly delta: string })
  | (Base<"TEXT_MESSAGE_END"> & { readonly messageId: string })
  | (Base<"TOOL_CALL_START"> & { readonly toolCallId: string; readonly toolCallName: string })
  | (Base<"TOOL_CALL_ARGS"> & { readonly toolCallId: string; readonly delta: string })
  | (Base<"TOOL_CALL_END"> & { readonly toolCallId: string })
  | (Base<"TOOL_CALL_RESULT"> & {
      readonly messageId: string
      readonly toolCallId: string
      readonly content: string
      readonly role: "tool"
    })
  | (Base<"STATE_SNAPSHOT"> & { readonly snapshot: object })
  | (Base<"STATE_DELTA"> & { readonly delta: ReadonlyArray<PatchOperation> })
  | (Base<"CUSTOM"> & { readonly name: string; readonly value: Schema.Json })
