import { createHash, generateKeyPairSync, sign, verify } from "node:crypto"
import {
  artifactCreated,
  chainNext,
  chainStart,
  emptyRunMetrics,
  eventBytes,
  exportEnds,
  exportedLine,
  framesStart,
  frameText,
  makeExportDigest,
  makeSeal,
  measure,
  projectAll,
  RunId,
  rawEventId,
  type Seal,
  type SealDraft,
  type Sha256,
  type SignatureCheck,
  type Signer,
  signedBytes,
  verifyExport
} from "@runplane/domain"
import { eventsOf, opened, votes } from "./deliberations.ts"
import { at, RUN_ID, textOf } from "./events.ts"

export const sha256: Sha256 = (...parts) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest()
}

const signerOf = (keyId: string) => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const signer: Signer = { keyId, sign: (message) => sign(null, message, privateKey) }
  return { signer, publicKey }
}
export const keys = [signerOf("key-1"), signerOf("key-2")] as const
export const check: SignatureCheck = (keyId, message, signature) => {
  const key = keys.find(({ signer }) => signer.keyId === keyId)
  return key && verify(null, message, key.publicKey, signature)
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

export const inline = '{"spans":[1,{"a":null}]}'
export const artifact = {
  artifactId: "a1",
  kind: "report",
  label: "Summary",
  contentSha256: hex(sha256(Buffer.from(inline)))
}
const all = eventsOf(
  opened(),
  artifactCreated(at(0), artifact, "run-executor"),
  votes("a", "APPROVE"),
  votes("b", "caf\u00e9 \u{1F600}")
)
export const texts = all.map(textOf)
const state = projectAll(RUN_ID, all)
export const metrics = all.reduce(measure, emptyRunMetrics(RunId.make(RUN_ID)))

const runText = `{"id":"${RUN_ID}","status":"running","tags":["a \\"b\\\\"]}`
export const sessionText = JSON.stringify({
  runId: RUN_ID,
  runtimeSessionId: "session-1",
  modeName: "macp.mode.decision.v1",
  policyVersion: "policy.default",
  initiatorParticipantId: "lead",
  sessionState: "OPEN",
  metadata: { participants: ["a", "b", "c"] }
})
export const artifactText = `{"id":"a1","runId":"${RUN_ID}","kind":"report","label":"Summary","inline":${inline},"createdAt":"c"}`
export const frameOf = (seq: number) => {
  const head = {
    id: rawEventId(sha256, RUN_ID, seq),
    runId: RUN_ID,
    seq,
    ts: at(seq),
    kind: "envelope",
    sourceName: "s"
  }
  return `${JSON.stringify(head).slice(0, -1)},"payload":{"a":[1,true,null,${seq}]},"createdAt":"${at(seq)}"}`
}
export const frames = [1, 2, 3].map(frameOf)
const framesHead = [1, 2, 3].reduce(
  (head, seq) =>
    chainNext(
      sha256,
      head,
      eventBytes(frameText({ seq, ts: at(seq), kind: "envelope", sourceName: "s" }, `{"a":[1,true,null,${seq}]}`))
    ),
  framesStart(sha256, RUN_ID)
)
/** The records that fit the events, as the texts of an export. */
export const honest: { readonly around: string; readonly frames: ReadonlyArray<string> } = {
  around:
    `"run":${runText},"session":${sessionText},"projection":${JSON.stringify(state)},` +
    `"metrics":${JSON.stringify(metrics)},"artifacts":[${artifactText}]`,
  frames
}

type Format = keyof typeof exportEnds

export const nothing = {
  around: `"run":{"id":"${RUN_ID}","status":"queued"},"session":null,"projection":null,"metrics":null,"artifacts":[]`,
  frames
}

export const PROVEN = { late: false, provenAfter: 0, frames: null }

export interface Made {
  readonly events?: ReadonlyArray<string>
  readonly signer?: Signer | undefined
  /** The export's own; that of the seal unless said. */
  readonly exporter?: Signer | undefined
  readonly isSealed?: boolean
  /** Changes the events once the seal and the heads are made. */
  readonly tamper?: (events: ReadonlyArray<string>) => ReadonlyArray<string>
  /** The records beside the events. */
  readonly records?: typeof honest
  readonly proof?: Partial<Pick<SealDraft, "frames" | "late" | "provenAfter">>
  /** Whether the seal is of a release without the members of the proof. */
  readonly isOld?: boolean
}

/** A seal as a release without the members of the proof has made it. */
const olderSeal = ({ frames: _, late: __, provenAfter: ___, signature: ____, ...old }: Seal, signer: Signer): Seal => ({
  ...old,
  signature: hex(signer.sign(signedBytes(old)))
})

/** An export as the service makes it. */
export const exported = (format: Format, made: Made = {}): Buffer => {
  const { events = texts, isOld = false, isSealed = true, records = honest, tamper = (all) => all } = made
  const signer = "signer" in made ? made.signer : keys[0].signer
  const exporter = "exporter" in made ? made.exporter : signer
  let head = chainStart(sha256, RUN_ID)
  const heads = events.map((text) => {
    head = chainNext(sha256, head, eventBytes(text))
    return Buffer.from(head).toString("hex")
  })
  const proof = { late: false, provenAfter: 0, frames: { after: 0, last: 3, head: hex(framesHead) }, ...made.proof }
  const draft = { runId: RUN_ID, events: events.length, head, sealedAt: "2026-07-01T10:00:00.000Z", ...proof }
  const fresh = isSealed ? makeSeal(draft, signer) : undefined
  const seal = fresh !== undefined && isOld && signer !== undefined ? olderSeal(fresh, signer) : fresh
  const { around, frames } = records
  const body = {
    json: `{${around},"canonicalEvents":[${tamper(events).join(",")}],"rawEvents":[${frames.join(",")}],"exportedAt":"then"`,
    jsonl: [
      `{"type":"header",${around}}`,
      ...tamper(events).map(exportedLine),
      ...frames.map((frame) => `{"type":"raw_event",${frame.slice(1)}`)
    ]
      .map((line) => `${line}\n`)
      .join("")
  }
  const covered = body[format] + exportEnds[format].proof({ seal, heads })
  return Buffer.from(covered + exportEnds[format].digest(makeExportDigest(sha256(Buffer.from(covered)), exporter)))
}

export const verified = (bytes: Uint8Array, by = check) => verifyExport(sha256, by, bytes)

export const whyOf = (bytes: Uint8Array, by = check) => {
  const found = verified(bytes, by)
  return found.ok ? "it fits" : found.index === undefined ? found.why : `${found.index}: ${found.why}`
}

export const formats: ReadonlyArray<Format> = ["json", "jsonl"]
