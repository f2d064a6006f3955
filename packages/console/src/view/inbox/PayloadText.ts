import { BinaryReader, WireType } from "@bufbuild/protobuf/wire"

/** A field of a payload as the page shows it. */
export interface PayloadField {
  readonly name: string
  readonly text: string
}

type Kind = "text" | "bytes" | "number"
type Fields = Readonly<Record<number, readonly [name: string, kind: Kind]>>

/** The fields of the messages that people answer, by their numbers in the protocol. */
const MESSAGES: Readonly<Record<string, Fields>> = {
  "macp.modes.decision.v1.ProposalPayload": {
    1: ["Proposal", "text"],
    2: ["Option", "text"],
    3: ["Rationale", "text"],
    4: ["Supporting data", "bytes"]
  },
  "macp.modes.quorum.v1.ApprovalRequestPayload": {
    1: ["Request", "text"],
    2: ["Action", "text"],
    3: ["Summary", "text"],
    4: ["Details", "bytes"],
    5: ["Required approvals", "number"]
  },
  "macp.modes.handoff.v1.HandoffOfferPayload": {
    1: ["Handoff", "text"],
    2: ["To", "text"],
    3: ["Scope", "text"],
    4: ["Reason", "text"]
  }
}

const WIRE: Readonly<Record<Kind, WireType>> = {
  text: WireType.LengthDelimited,
  bytes: WireType.LengthDelimited,
  number: WireType.Varint
}

const exactText = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Bytes as text, or their number where they are none. */
const textOf = (bytes: Uint8Array): string => {
  try {
    return exactText.decode(bytes)
  } catch {
    return `${bytes.length} bytes that are no text`
  }
}

/**
 * The fields that are in the bytes of a payload, in the order of their numbers, unknown ones too; a field that is there
 * twice has its last value, as readers of the protocol take it. Undefined for another message and for bytes that are
 * not such a message.
 */
export const payloadFields = (type: string, bytes: Uint8Array): ReadonlyArray<PayloadField> | undefined => {
  const fields = MESSAGES[type]
  if (fields === undefined) return undefined
  const found = new Map<number, PayloadField>()
  try {
    const reader = new BinaryReader(bytes)
    while (reader.pos < reader.len) {
      const [number, wire] = reader.tag()
      const field = fields[number]
      if (field === undefined || WIRE[field[1]] !== wire) {
        // It is under the hash like every other field, so the person sees that there is one.
        const { length } = reader.skip(wire, number)
        found.set(number, {
          name: `Field ${number}`,
          text: `unknown to this page, with ${length === 1 ? "1 byte" : `${length} bytes`}`
        })
        continue
      }
      const [name, kind] = field
      const text =
        kind === "number" ? String(reader.uint32()) : kind === "text" ? reader.string() : textOf(reader.bytes())
      found.set(number, { name, text })
    }
  } catch {
    // The bytes come from other parties; "not such a message" is an expected answer.
    return undefined
  }
  return [...found].toSorted(([one], [other]) => one - other).map(([, field]) => field)
}

const QUESTIONS: ReadonlySet<string> = new Set(["Option", "Action", "Scope"])
const TEXTS: ReadonlySet<string> = new Set(["Rationale", "Summary", "Reason"])

/** What is asked, why, and the rest. */
export const subjectOf = (fields: ReadonlyArray<PayloadField>) => ({
  question: fields.find(({ name }) => QUESTIONS.has(name))?.text,
  text: fields.find(({ name }) => TEXTS.has(name))?.text,
  others: fields.filter(({ name }) => !QUESTIONS.has(name) && !TEXTS.has(name))
})
