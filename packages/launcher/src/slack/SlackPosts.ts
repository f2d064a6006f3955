import { backoffMs } from "@runplane/domain"
import { forever } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import { Directory } from "../catalog/Directory.ts"
import { LauncherSettings, type LauncherSlack } from "../LauncherSettings.ts"
import type { Inbox } from "../people/Inbox.ts"
import { Mailer } from "../people/notices/Mailer.ts"
import { People, type PeopleShape } from "../people/People.ts"
import { type DueMessage, makeSlackRows, type UnlaidItem } from "../people/slack/SlackRows.ts"
import { makeSlackClient, type SlackCallFailed } from "./SlackClient.ts"
import { isFinal, messageOf } from "./SlackItems.ts"
import { memberOf, membersAmong } from "./SlackMembers.ts"

/** How often open items and their states are read. Milliseconds. */
const EVERY_MS = 1_000
const BACKOFF = { firstMs: 1_000, longestMs: 300_000 }
/** Tries of one change of a message: about twenty minutes. */
const MAX_TRIES = 12
/** Calls at the same time. Slack takes about one message a second for each channel. */
const CONCURRENCY = 4
const LIMIT_MS = 600_000

/** The reader of an item that is shown to no person: it is assigned to nothing. */
const NO_PERSON = { id: "", groups: [], proof: "none", channel: "slack" } as const

/**
 * Writes questions to the people whom they are assigned to, as direct messages of the Slack app, and keeps each message
 * as its item is: for every way in which an item closes, also without a press.
 */
export const layerSlackPosts = Layer.effectDiscard(
  Effect.gen(function* () {
    const people = yield* People
    const { slack } = yield* LauncherSettings
    if (people === undefined || slack?.botToken === undefined) return
    const round = yield* makeRound(people, slack, slack.botToken)
    yield* Effect.forkScoped(forever("people-slack", round, { every: EVERY_MS, limitMs: LIMIT_MS }))
  })
)

const makeRound = Effect.fnUntraced(function* (
  { inbox, noticeEvents, sql }: PeopleShape,
  { publicUrl }: LauncherSlack,
  token: Redacted.Redacted
) {
  const directory = yield* Directory
  const client = yield* makeSlackClient
  const rows = makeSlackRows(sql)
  const mail = (yield* Mailer) !== undefined

  /** Whether a person was reached is known when the last message of a question is laid out, or has ended. */
  const reportUnreached = (item: string) => noticeEvents.reportUnreached(item, { mail, slack: true })

  const lay = Effect.fnUntraced(function* (unlaid: UnlaidItem) {
    const { item, scenario_ref } = unlaid
    const shown = yield* inbox.show(NO_PERSON, item, ALL)
    if (shown === undefined) return
    const names = [
      ...shown.assign,
      ...shown.added.flatMap(({ assignee }) => assignee ?? []),
      ...shown.delegations.map(({ delegation: { to } }) => `person:${to}`)
    ]
    yield* rows.lay(unlaid, membersAmong(yield* directory.peopleOf(scenario_ref), names))
    yield* reportUnreached(item)
  })

  const end = (message: DueMessage, reason: string) =>
    Effect.andThen(rows.end(message, reason), reportUnreached(message.item))

  const give = (message: DueMessage, reason: string) =>
    Effect.andThen(
      Effect.logWarning(`the message in Slack for ${message.person} about item ${message.item} ends: ${reason}`),
      end(message, reason)
    )

  const write = Effect.fnUntraced(function* (due: DueMessage) {
    const { channel, item, person: id, scenario_ref, state, tries, ts } = due
    const found = memberOf(yield* directory.peopleOf(scenario_ref), id, scenario_ref)
    if (ts === null && state !== "open") return yield* end(due, "the item closed before")
    if (found === undefined && ts === null) return yield* end(due, "the directory has no member id")
    const shown = yield* inbox.show(found?.person ?? NO_PERSON, item, ALL)
    if (shown === undefined) return yield* end(due, "the texts of the item are erased")
    // Four eyes: a person who may not answer is not asked, so no message is missing.
    if (ts === null && shown.right !== "answer") {
      return yield* Effect.andThen(rows.remove(due), reportUnreached(item))
    }
    const message = messageOf(shown, publicUrl)
    if (message === undefined) return yield* rows.postpone(due, BACKOFF.firstMs)
    yield* rows.postpone(due, backoffMs(BACKOFF, tries))
    const at = ts === null || channel === null ? { channel: found?.member } : { channel, ts }
    yield* client.call(ts === null ? "chat.postMessage" : "chat.update", token, { ...at, ...message }).pipe(
      Effect.flatMap((written) =>
        rows.wrote(due, {
          channel: written.channel ?? channel ?? "",
          ts: written.ts ?? ts ?? "",
          shown: shown.row.state,
          isLast: isFinal(shown)
        })
      ),
      Effect.catchTag("SlackCallFailed", (failure) => retry(due, failure))
    )
  })

  const retry = (due: DueMessage, { message, pauseMs }: SlackCallFailed) =>
    due.tries + 1 >= MAX_TRIES
      ? give(due, message)
      : pauseMs > 0
        ? rows.postpone(due, pauseMs)
        : Effect.logDebug(`${message}, trying again`)

  return Effect.gen(function* () {
    yield* Effect.forEach(yield* rows.unlaid, lay, { discard: true })
    yield* Effect.forEach(yield* rows.due, write, { concurrency: CONCURRENCY, discard: true })
  })
})

/** The service reads an item for a person, who has not seen it by that. */
const ALL: Parameters<Inbox["Service"]["show"]>[2] = { scope: "all", isSeen: false }
