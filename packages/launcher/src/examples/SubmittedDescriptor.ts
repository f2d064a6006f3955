import type { CompileLaunchResult, ExampleRunRequest } from "@runplane/api"
import { recordedLaunch } from "@runplane/domain"
import { type CancelCallback, publishedCallback } from "../agents/CancelCallbacks.ts"
import { distinct } from "../common/Json.ts"
import type { KeyedLaunch } from "./LaunchKeys.ts"

/** The caller's tags are added, its requester and the names in the metadata replace; all apply without agents too. */
export const withOverrides = (
  compiled: CompileLaunchResult,
  { againOf, gate, tags, telemetry, requester, runLabel }: ExampleRunRequest
): CompileLaunchResult => {
  const { runDescriptor } = compiled
  const { session, execution } = runDescriptor
  return {
    ...compiled,
    runDescriptor: {
      ...runDescriptor,
      session: {
        ...session,
        metadata: {
          ...session.metadata,
          ...(runLabel && { runLabel }),
          ...(gate !== undefined && { gate }),
          ...(againOf !== undefined && { againOf })
        }
      },
      execution: {
        ...execution,
        ...(tags === undefined ? {} : { tags: distinct([...(execution?.tags ?? []), ...tags]) }),
        ...(requester === undefined ? {} : { requester })
      },
      ...(telemetry === undefined ? {} : { telemetry })
    }
  }
}

/**
 * With the inputs of the launch and the outputs of its scenario (docs/internals/launch.md#submission); a key of the
 * pack stays.
 */
export const withLaunch = (
  compiled: CompileLaunchResult,
  { inputs, templateId }: ExampleRunRequest,
  keyed: KeyedLaunch | undefined
): CompileLaunchResult => {
  const { runDescriptor } = compiled
  const { session } = runDescriptor
  const metadata = {
    launch: recordedLaunch(inputs, templateId, compiled.display.expectedDecisionKinds),
    ...session.metadata,
    ...(keyed !== undefined && { launchKey: { key: keyed.key, request: keyed.request } })
  }
  return { ...compiled, runDescriptor: { ...runDescriptor, session: { ...session, metadata } } }
}

/**
 * The descriptor as it is submitted, with the address for cancel requests to the initiator. The answer to the caller
 * has no callback, because of its bearer. A callback in the pack stays.
 */
export const withCancelCallback = (
  { initiator, runDescriptor }: CompileLaunchResult,
  callbacks: ReadonlyMap<string, CancelCallback>
): CompileLaunchResult["runDescriptor"] => {
  const assigned = initiator === undefined ? undefined : callbacks.get(initiator.participantId)
  const cancelCallback = assigned === undefined ? undefined : publishedCallback(assigned)
  if (cancelCallback === undefined) return runDescriptor
  const { session } = runDescriptor
  return { ...runDescriptor, session: { ...session, metadata: { cancelCallback, ...session.metadata } } }
}
