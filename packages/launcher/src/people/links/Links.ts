import { timingSafeEqual } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import {
  CODE_LIFE_MS,
  CODE_RANGE,
  codeText,
  codeVerdict,
  type LinkEnd,
  linkEnd,
  linkEndsAtUnixMs,
  MAX_SENT_CODES,
  MAX_WRONG_CODES
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Layer from "effect/Layer"
import { ItemRows } from "../ItemRows.ts"
import { codeHash, type FoundLink, LinkRows } from "./LinkRows.ts"

/** Why a link does nothing. */
export class LinkRefused extends Data.TaggedError("LinkRefused")<{
  readonly why:
    | { readonly _tag: "unknown" }
    | { readonly _tag: "over"; readonly end: LinkEnd; readonly link: FoundLink }
    /** The seat requires a sign-in. */
    | { readonly _tag: "needs-sign-in" }
    /** No code of the link counts now: none was sent, or its time is over. */
    | { readonly _tag: "no-code"; readonly isOld: boolean }
    | { readonly _tag: "wrong-code"; readonly left: number }
}> {}

/** The link has sent as many codes as one may. */
export class CodesSpent extends Data.TaggedError("CodesSpent") {}

const TOKEN_BYTES = 32

/**
 * The links by which persons without a sign-in answer: one question of one person each. The token is in the mail and in
 * the browser of the person alone, and a code by another way comes to every answer.
 */
export class Links extends Context.Service<Links, Effect.Success<typeof make>>()("runplane/launcher/Links") {
  static readonly layer = Layer.effect(
    Links,
    Effect.suspend(() => make)
  ).pipe(Layer.provide([LinkRows.layer, SecureRandom.layerWebCrypto]))
}

const isSameHash = (given: string, expected: string | undefined): boolean =>
  timingSafeEqual(Buffer.from(given), Buffer.from(expected ?? "".padEnd(given.length, "-")))

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const rows = yield* LinkRows
  const items = yield* ItemRows
  const random = yield* SecureRandom.SecureRandom

  const refuse = (why: LinkRefused["why"]) => Effect.fail(new LinkRefused({ why }))

  /** The link of a token, if it still takes an answer. */
  const live = Effect.fnUntraced(function* (token: string, isLocked: boolean) {
    const link = yield* rows.find(token, isLocked)
    if (link === undefined) return yield* refuse({ _tag: "unknown" })
    const nowUnixMs = yield* items.now
    const end = linkEnd(link, link.question, nowUnixMs)
    if (end !== undefined) return yield* refuse({ _tag: "over", end, link })
    if (link.proof !== "session") return yield* refuse({ _tag: "needs-sign-in" })
    return { link, nowUnixMs }
  })

  /** What a code comes to. A wrong one is a value, because a failure would undo its count. */
  const judge = Effect.fnUntraced(function* (token: string, code: string) {
    const { link, nowUnixMs } = yield* live(token, true)
    const verdict = codeVerdict(link, isSameHash(codeHash(token, code), link.codeSha256), nowUnixMs)
    if (verdict !== "wrong") return { link, verdict } as const
    const left = MAX_WRONG_CODES - link.wrongCodes - 1
    yield* rows.countWrong(token)
    yield* items.audit("service", "link.wrong-code", link.item, { person: link.person, left })
    return { link, verdict, left } as const
  }, sql.withTransaction)

  return {
    /** Makes a link of a person to an open question; undefined for one that is closed. */
    make: Effect.fn("Links.make")(function* (id: string, person: string) {
      const item = yield* items.byId(id)
      if (item?.state !== "open") return undefined
      const token = Base64Url.encode(yield* random.randomBytes(TOKEN_BYTES))
      const untilUnixMs = linkEndsAtUnixMs(yield* items.now, item.deadlineUnixMs)
      yield* rows.add(token, { item: id, person, proposalHash: item.proposalHash, expiresAtUnixMs: untilUnixMs })
      return { token, untilUnixMs }
    }),

    /** The question of a link that still takes an answer. Reading changes nothing. */
    find: (token: string) => Effect.map(live(token, false), ({ link }) => link),

    /** Makes the next code of a link, which replaces the one before. */
    newCode: Effect.fn("Links.newCode")(function* (token: string) {
      const { link, nowUnixMs } = yield* live(token, true)
      if (link.sentCodes >= MAX_SENT_CODES) return yield* new CodesSpent()
      const code = codeText(yield* random.intBetween(0, CODE_RANGE, { halfOpen: true }))
      yield* rows.setCode(token, codeHash(token, code), nowUnixMs + CODE_LIFE_MS)
      yield* items.audit("service", "link.code", link.item, { person: link.person, number: link.sentCodes + 1 })
      return { code, left: MAX_SENT_CODES - link.sentCodes - 1 }
    }, sql.withTransaction),

    /** The last code could not be sent for now: the next one is sent in its stead. */
    dropCode: (token: string) => Effect.asVoid(rows.dropCode(token)),

    /** Checks the code of an answer. A wrong one counts, whatever follows. */
    check: Effect.fn("Links.check")(function* (token: string, code: string) {
      const judged = yield* judge(token, code)
      switch (judged.verdict) {
        case "right":
          return judged.link
        case "wrong": {
          const { item, person } = judged.link
          if (judged.left === 0) yield* Effect.logWarning(`the link of ${person} to item ${item} is over: wrong codes`)
          return yield* refuse({ _tag: "wrong-code", left: judged.left })
        }
        default:
          return yield* refuse({ _tag: "no-code", isOld: judged.verdict === "old" })
      }
    })
  }
})
