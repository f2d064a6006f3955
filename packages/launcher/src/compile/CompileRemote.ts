import type { CompileLaunchResult, LauncherFault, LaunchRejected } from "@runplane/api"
import { type BoundPolicy, type RemoteAgent, type RemoteTurns, type TurnContext, turnFaults } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { LaunchBlock } from "../catalog/PackDocuments.ts"
import { distinct, type JsonObject } from "../common/Json.ts"
import { compilationFailed, invalidConfig } from "../common/LaunchErrors.ts"

/** Whether an agent speaks A2A; undefined where the catalog of agents is not known. */
export type KnownRemotes = ((agentRef: string) => boolean) | undefined

/** The participants of a launch whose agents speak A2A. */
export const remotesIn = ({ participants }: LaunchBlock, isRemote: KnownRemotes) =>
  isRemote === undefined ? [] : participants.filter(({ agentRef }) => isRemote(agentRef))

/** Whether an agent that speaks A2A takes part in a launch, or is meant to. */
export const hasRemotes = (launch: LaunchBlock, isRemote: KnownRemotes): boolean =>
  launch.a2a !== undefined || remotesIn(launch, isRemote).length > 0

/** What turns are checked against. */
export const turnContext = (
  launch: LaunchBlock,
  initiator: string | undefined,
  isRemote: KnownRemotes,
  policy: BoundPolicy | undefined
): TurnContext => ({
  modeName: launch.modeName,
  ttlMs: launch.ttlMs,
  initiator,
  participants: launch.participants.map(({ id }) => id),
  agents: isRemote === undefined ? undefined : remotesIn(launch, isRemote).map(({ id }) => id),
  policy
})

/** Refuses turns that cannot be; each refusal names its field. */
export const checkTurns = (
  launch: LaunchBlock,
  initiator: string | undefined,
  isRemote: KnownRemotes
): Result.Result<void, LaunchRejected> => {
  const faults = turnFaults(launch.a2a ?? {}, turnContext(launch, initiator, isRemote, undefined))
  const errors = faults.filter(({ level }) => level === "error")
  if (errors.length === 0) return Result.void
  return Result.fail(
    compilationFailed(
      errors
        .map(({ at, message }) =>
          message.startsWith("a2a.") ? `launch.${message}` : `${["launch.a2a", ...at].join(".")}: ${message}`
        )
        .join("; ")
    )
  )
}

/** A compiled launch with its agents that speak A2A, as their cards are now. The run's metadata has what was pinned. */
export const withRemotes = Effect.fnUntraced(function* (
  compiled: CompileLaunchResult,
  launch: LaunchBlock,
  isRemote: KnownRemotes,
  pin: (agentRef: string) => Effect.Effect<RemoteAgent, string>
): Effect.fn.Return<CompileLaunchResult, LauncherFault> {
  const remotes = remotesIn(launch, isRemote)
  if (remotes.length === 0) return compiled
  const pinned = new Map<string, RemoteAgent>()
  for (const agentRef of distinct(remotes.map((one) => one.agentRef))) {
    const agent = yield* Effect.mapError(pin(agentRef), (why) => invalidConfig(`agent ${agentRef}: ${why}`))
    pinned.set(agentRef, agent)
  }
  const seats = remotes.flatMap(({ agentRef, id }) => {
    const agent = pinned.get(agentRef)
    return agent === undefined ? [] : [{ id, agent }]
  })
  const a2a: RemoteTurns = Object.fromEntries(
    seats.map(({ agent, id }) => [id, { rules: launch.a2a?.[id] ?? {}, agent }] as const)
  )
  const shown = Object.fromEntries(seats.map(({ agent, id }) => [id, metadataOf(agent)] as const))
  const { runDescriptor } = compiled
  const { session } = runDescriptor
  const metadata = { ...session.metadata, a2a: shown }
  return { ...compiled, a2a, runDescriptor: { ...runDescriptor, session: { ...session, metadata } } }
})

/** What the metadata of a run say of an agent. */
const metadataOf = ({ agentRef, cardSha256, interface: { binding }, signature }: RemoteAgent): JsonObject => ({
  agentRef,
  cardSha256,
  signature,
  binding
})
