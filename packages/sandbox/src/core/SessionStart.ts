import { DEFAULT_POLICY_ID, isReleaseFrom, type Policy, policyFitsMode, type Release } from "@runplane/domain"
import { type Envelope, type SessionStartPayload, SessionStartPayloadSchema } from "@runplane/runtime"
import * as Result from "effect/Result"
import { decodePayload, isBlank } from "./Decode.ts"
import { isSessionId } from "./EnvelopeShape.ts"
import type { Mode } from "./Mode.ts"
import { findMode } from "./Modes.ts"
import {
  InvalidModeVersion,
  InvalidPayload,
  InvalidPolicyDefinition,
  InvalidSessionId,
  InvalidTtl,
  type Rejection,
  UnknownMode,
  UnknownPolicyVersion
} from "./Rejection.ts"
import { Session } from "./Session.ts"

/** Bytes of a session id, from 0.13.0 on. */
export const MAX_SESSION_ID_BYTES = 128

/** Participants of one session (docs/internals/runtime.md#session-start). */
export const MAX_PARTICIPANTS = 1_000

/** Longest time to live of a session, in milliseconds: one day. */
export const MAX_TTL_MS = 86_400_000

/** A SessionStart that passed every check made before the session table and the policies are read. */
export interface StartRequest {
  readonly envelope: Envelope
  readonly mode: Mode
  readonly payload: SessionStartPayload
}

/**
 * The checks of a start up to its time to live, in their order (docs/internals/runtime.md#session-start). The kernel
 * then checks that the session is new. `find` knows the modes that callers have registered, too.
 */
export const checkStart = (
  envelope: Envelope,
  release: Release,
  find: (mode: string) => Mode | undefined = findMode
): Result.Result<StartRequest, Rejection> => {
  const isLong = isReleaseFrom(release, "0.13.0") && envelope.sessionId.length > MAX_SESSION_ID_BYTES
  if (isLong || !isSessionId(envelope.sessionId)) return Result.fail(InvalidSessionId)
  const mode = find(envelope.mode)
  if (mode === undefined) return Result.fail(UnknownMode)
  if (envelope.payload.length === 0) return Result.fail(InvalidPayload)
  return Result.flatMap(decodePayload(SessionStartPayloadSchema, envelope.payload), (payload) => {
    if (!mode.isStrict) return Result.map(checkTtl(payload), () => ({ envelope, mode, payload: bound(payload, mode) }))
    if (!isStrict(payload, mode.needsParticipants || !isReleaseFrom(release, "0.7.6")))
      return Result.fail(InvalidPayload)
    if (payload.modeVersion !== mode.info.modeVersion) return Result.fail(InvalidModeVersion)
    return Result.map(checkTtl(payload), () => ({ envelope, mode, payload }))
  })
}

const checkTtl = ({ ttlMs }: SessionStartPayload): Result.Result<void, Rejection> =>
  ttlMs < 1n || ttlMs > BigInt(MAX_TTL_MS) ? Result.fail(InvalidTtl) : Result.void

/** A start without a version binds that of the mode. */
const bound = (payload: SessionStartPayload, { info }: Mode): SessionStartPayload =>
  payload.modeVersion === "" ? { ...payload, modeVersion: info.modeVersion } : payload

/**
 * The remaining checks: binds the policy, checks the mode, and returns the OPEN session with its start (ordinal 1). One
 * that `isRecorded` has no time of its own.
 */
export const startSession = (
  request: StartRequest,
  sender: string,
  now: number,
  resolvePolicy: (id: string) => Policy | undefined,
  release: Release,
  isRecorded = false
): Result.Result<Session, Rejection> => {
  const { envelope, mode, payload } = request
  const policy = resolvePolicy(payload.policyVersion === "" ? DEFAULT_POLICY_ID : payload.policyVersion)
  if (policy === undefined) return Result.fail(UnknownPolicyVersion)
  if (!policyFitsMode(policy.mode, envelope.mode)) return Result.fail(InvalidPolicyDefinition)
  const binding = {
    sessionId: envelope.sessionId,
    initiator: sender,
    participants: payload.participants,
    modeVersion: payload.modeVersion,
    configurationVersion: payload.configurationVersion,
    policy,
    release
  }
  return Result.map(
    mode.start(binding),
    (run) => new Session({ mode, run, binding, payload, envelope, now, isRecorded })
  )
}

const isStrict = (payload: SessionStartPayload, needsParticipants: boolean): boolean => {
  const { participants } = payload
  if (isBlank(payload.modeVersion) || isBlank(payload.configurationVersion)) return false
  if (needsParticipants && participants.length === 0) return false
  if (participants.length > MAX_PARTICIPANTS) return false
  const names = new Set(participants.map((name) => name.trim()))
  return !names.has("") && names.size === participants.length && payload.maxSuspendMs >= 0n
}
