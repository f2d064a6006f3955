import { about, ErasureAppendix, Field, MemberSalts, RunId, RunStatus, Seal } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { integer, uuid, withDefault } from "../../validation/Fields.ts"
import { querySchema } from "../../validation/RequestSchema.ts"
import { cursorText } from "../runs/RunRequests.ts"

const optional = Schema.optionalKey

/** Most of the earlier seals that the answer lists. */
export const MAX_EARLIER_SEALS = 100

/** The answer of `GET /runs/:id/seal` (docs/reference/seal.md#seals). */
export const RunSeal = Schema.Struct({
  ...Seal.fields,
  earlier: Schema.Array(Seal).annotate({
    description: `Seals that later events have replaced, the newest first, at most ${MAX_EARLIER_SEALS}; not signed`
  })
}).annotate({ identifier: "RunSeal", description: "The seal over all events of a run that has ended" })
export type RunSeal = typeof RunSeal.Type

/** Most events of a page of salts. */
const MAX_SALTS_PAGE = 1_000

/** The query of `GET /runs/:id/salts`. */
export const saltsQuery = querySchema({
  afterSeq: withDefault(integer({ min: 0 }).annotate(about("Only of events with a greater seq", 0)), 0),
  limit: withDefault(
    integer({ min: 1, max: MAX_SALTS_PAGE }).annotate(about("Most events of the page", MAX_SALTS_PAGE)),
    MAX_SALTS_PAGE
  )
})
export type SaltsQuery = typeof saltsQuery.Type

/** The answer of `GET /runs/:id/salts` (docs/reference/seal.md#verify-a-run). */
export const RunSalts = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      seq: Field.integer("Of the event"),
      index: Field.integer("Position of the event in its run", 1),
      salts: MemberSalts.annotate({
        description: "The seed of its salts; after an erasure the salts of the members that remain, by their pointers"
      })
    }).annotate({ identifier: "EventSalts", description: "The salts of an event" })
  ).annotate({ description: "By seq; none for a run of version 1 of the chain" }),
  erasures: Schema.NullOr(ErasureAppendix).annotate({
    description: "The erasures of the run; null where nothing was erased"
  })
}).annotate({ identifier: "RunSalts", description: "What proves the events of a run, beside their seal" })
export type RunSalts = typeof RunSalts.Type

/** A public key that has sealed, as a JSON Web Key (RFC 8037) with the time of its first use. */
export const SealPublicKey = Schema.Struct({
  kty: Schema.Literal("OKP").annotate({ description: "Always OKP" }),
  crv: Schema.Literal("Ed25519").annotate({ description: "Always Ed25519" }),
  alg: Schema.Literal("EdDSA").annotate({ description: "Always EdDSA" }),
  use: Schema.Literal("sig").annotate({ description: "Always sig" }),
  kid: Field.text("Id of the key, as `keyId` of seals: its thumbprint of RFC 7638"),
  x: Field.text("The 32 bytes of the key, base64url"),
  firstUsedAt: Field.time("When a process first started with it"),
  statement: optional(
    Schema.Struct({
      previous: Schema.NullOr(Schema.String).annotate({
        description: "Id of the key that this one replaced; null for the first"
      }),
      since: Field.time("Since when it seals"),
      signature: Field.text("Ed25519 by this key over the canonical JSON of the statement, hexadecimal"),
      previousSignature: Schema.NullOr(Schema.String).annotate({
        description: "The same by the key that it replaced, hexadecimal; null for the first"
      })
    }).annotate({
      identifier: "SealKeyStatement",
      description: "What the key says of itself, with `kind` runplane-key-v1, its id and its bytes"
    })
  )
}).annotate({ identifier: "SealPublicKey", description: "A public key that has sealed" })
export type SealPublicKey = typeof SealPublicKey.Type

/** The answer of `GET /.well-known/runplane-keys.json` (docs/reference/seal.md#keys). */
export const SealKeySet = Schema.Struct({
  keys: Schema.Array(SealPublicKey).annotate({
    description: "The key of the service and those that it proves, the newest first"
  })
}).annotate({ identifier: "SealKeySet", description: "The public keys of seals, as a JSON Web Key Set" })
export type SealKeySet = typeof SealKeySet.Type

export const TombstoneReason = Schema.Literals(["deleted", "expired"]).annotate({
  description: "deleted by a caller, or expired and deleted by retention"
})
export type TombstoneReason = typeof TombstoneReason.Type

/** What stays of a deleted run (docs/reference/seal.md#tombstones). */
export const Tombstone = Schema.Struct({
  runId: RunId,
  status: RunStatus,
  events: Field.integer("Events that the run had"),
  reason: TombstoneReason,
  deletedAt: Field.time("When the run was deleted"),
  deletedBy: Field.text("Who deleted it, as audit entries name them; `retention` when it expired", "ops"),
  sealHead: Schema.NullOr(Schema.String).annotate({
    description: "Head of the run's last seal, hexadecimal; null when it had none"
  }),
  seal: Schema.NullOr(Seal).annotate({ description: "The run's last seal; null when it had none" })
}).annotate({ identifier: "Tombstone", description: "What stays of a deleted run" })
export type Tombstone = typeof Tombstone.Type

export const TombstonePage = Schema.Struct({
  data: Schema.Array(Tombstone).annotate({ description: "The tombstones of this page" }),
  limit: Field.integer("Most tombstones of a page, as requested"),
  nextCursor: optional(Field.text("Only on a full page: to be given as cursor for the next one"))
}).annotate({ identifier: "TombstonePage", description: "One page of tombstones, the latest first" })
export type TombstonePage = typeof TombstonePage.Type

export const MAX_TOMBSTONE_PAGE = 200
export const DEFAULT_TOMBSTONE_PAGE = 50

/** The query of `GET /runs/tombstones`. */
export const tombstonesQuery = querySchema({
  runId: optional(uuid("Only of this run", "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10")),
  limit: withDefault(
    integer({ min: 1, max: MAX_TOMBSTONE_PAGE }).annotate(about("Most entries of the page", DEFAULT_TOMBSTONE_PAGE)),
    DEFAULT_TOMBSTONE_PAGE
  ),
  cursor: optional(cursorText)
})
export type TombstonesQuery = typeof tombstonesQuery.Type
