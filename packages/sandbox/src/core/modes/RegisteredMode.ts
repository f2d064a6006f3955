import type { ModeDescriptor } from "@runplane/runtime"
import * as Result from "effect/Result"
import { type Mode, makeMode } from "../Mode.ts"
import { Forbidden } from "../Rejection.ts"

/** The only type that can end a session of a registered mode, because nothing else is known of its messages. */
const COMMITMENT = "Commitment"

/** Why a descriptor cannot be registered, in the words of the reference runtime; undefined when it can. */
export const descriptorProblem = ({
  messageTypes,
  mode,
  modeVersion,
  terminalMessageTypes
}: ModeDescriptor): string | undefined => {
  if (mode.trim() === "") return "mode name must not be empty"
  if (mode.startsWith("macp.mode.")) return "cannot register extension with reserved macp.mode.* namespace"
  if (messageTypes.length === 0) return "extension descriptor must declare at least one message type"
  if (modeVersion.trim() === "") return "extension descriptor must bind mode_version"
  if (terminalMessageTypes.length === 0) return "extension descriptor must declare at least one terminal message type"
  const other = terminalMessageTypes.find((type) => type !== COMMITMENT)
  if (other !== undefined) {
    return (
      "dynamically registered modes resolve only on 'Commitment'; " +
      `terminal message type '${other}' would never terminate a session`
    )
  }
  return messageTypes.includes(COMMITMENT)
    ? undefined
    : `terminal message type '${COMMITMENT}' must also appear in message_types`
}

/**
 * An extension mode of which only its descriptor is known (docs/internals/runtime.md#extension-modes): its
 * participants, or every sender without any, send the types that it lists, with any content; a Commitment of the
 * initiator ends it.
 */
export const registeredMode = (descriptor: ModeDescriptor): Mode =>
  makeMode<Readonly<Record<string, number>>>(
    {
      info: descriptor,
      policyAuthority: false,
      needsParticipants: false,
      start: () => Result.succeed({}),
      authorize: (_state, { sender }, { participants }) =>
        participants.length === 0 || participants.includes(sender) ? undefined : Forbidden,
      moves: Object.fromEntries(
        descriptor.messageTypes
          .filter((type) => type !== "SessionStart" && type !== COMMITMENT)
          .map((type) => [type, (sent) => Result.succeed({ ...sent, [type]: (sent[type] ?? 0) + 1 })])
      ),
      readyToCommit: () => true,
      deny: () => [],
      commit: (sent) => sent,
      view: (sent) => ({ sent })
    },
    descriptor
  )
