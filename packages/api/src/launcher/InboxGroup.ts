import { about, Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../errors/LauncherFailures.ts"
import { operation, tag } from "../openapi/Describe.ts"
import { UuidParam } from "../validation/Params.ts"
import { bodySchema } from "../validation/RequestSchema.ts"
import {
  AnsweredItem,
  AnswerRequest,
  InboxItem,
  InboxPage,
  inboxQuery,
  QuestionedItem,
  QuestionRequest,
  ReturnedItem,
  ReturnRequest
} from "./Inbox.ts"
import { inboxStreamQuery } from "./InboxStreams.ts"
import { PasskeyChallenge } from "./Passkeys.ts"

const id = { id: UuidParam }

const NONCE = "5f2b0c9d6a1e4873b2c5d8f09e7a6b1c3d4e5f60718293a4b5c6d7e8f9001122"

/** Sent with a cookie: a page of another site knows neither, and the nonce of another item does not fit. */
const writeHeaders = {
  "x-page-nonce": Schema.optionalKey(
    Field.text("`nonce` of the item; required of a caller that is known by its cookie", NONCE)
  )
}

/** How an answer came in, for the record. */
const channelHeader = {
  "x-runplane-channel": Schema.optionalKey(
    Schema.Literal("cli").annotate(about("How the answer came in, for the record: cli for the command line", "cli"))
  )
}

/** The questions to people, and their answers (docs/reference/people.md#answering). */
export class InboxGroup extends HttpApiGroup.make("inbox")
  .add(
    HttpApiEndpoint.get("list", "/inbox", {
      query: inboxQuery,
      success: InboxPage,
      error: [
        Failure.UnknownCursor,
        Failure.PersonForbidden,
        Failure.InboxDatabaseAway,
        Failure.NoPeopleDatabase,
        Failure.InvalidPackData
      ]
    }).annotateMerge(
      operation({
        id: "listInbox",
        access: "viewer",
        takesVoters: true,
        summary: "List questions to people",
        description: "The items that the caller is assigned to, the oldest first; with `scope=all` those of all people."
      })
    ),
    HttpApiEndpoint.get("stream", "/inbox/stream", {
      query: inboxStreamQuery,
      headers: {
        "last-event-id": Schema.optionalKey(
          Field.text("id of the last frame, as EventSource sends it; other text is ignored", "7301:7301:")
        )
      },
      success: HttpApiSchema.StreamUint8Array({ contentType: "text/event-stream" }),
      error: [
        Failure.PersonForbidden,
        Failure.TooManyStreams,
        Failure.InboxDatabaseAway,
        Failure.NoPeopleDatabase,
        Failure.InvalidPackData
      ]
    }).annotateMerge(
      operation({
        id: "streamInbox",
        access: "viewer",
        takesVoters: true,
        summary: "Follow the questions to the caller",
        description:
          "An event stream (SSE) of the items that the caller is assigned to: `ready` first, then `item` with an InboxChange " +
          "for each that opens, changes or closes, and `heartbeat`. With Last-Event-ID the changes since then come first; " +
          "`reset` in place of them means that the list is to be read again. It ends with the sign-in of the caller."
      })
    ),
    HttpApiEndpoint.get("show", "/inbox/:id", {
      params: id,
      success: InboxItem,
      error: [
        Failure.ItemNotFound,
        Failure.PersonForbidden,
        Failure.InboxDatabaseAway,
        Failure.NoPeopleDatabase,
        Failure.InvalidPackData
      ]
    }).annotateMerge(
      operation({
        id: "getInboxItem",
        access: "viewer",
        takesVoters: true,
        summary: "Read one question",
        description:
          "Everything that an answer rests on: the payload in full, the other messages about it, the policy, and what each " +
          "act leads to. Votes of others are withheld until the answer, unless the scenario reveals them."
      })
    ),
    HttpApiEndpoint.post("answer", "/inbox/:id/answers", {
      params: id,
      headers: { ...writeHeaders, ...channelHeader },
      payload: bodySchema(AnswerRequest, { unknownKeys: "reject" }),
      success: AnsweredItem,
      error: [
        Failure.InvalidAnswer,
        Failure.PersonForbidden,
        Failure.SignInNotFresh,
        Failure.PasskeyMissing,
        Failure.PasskeyRefused,
        Failure.ItemNotFound,
        Failure.ItemAnswered,
        Failure.ItemStale,
        Failure.ItemNotOpen,
        Failure.BasisUnknown,
        Failure.HistoryGone,
        Failure.ItemClosed,
        Failure.TooManyAnswers,
        Failure.SessionUnread,
        Failure.InboxDatabaseAway,
        Failure.NoPeopleDatabase,
        Failure.InvalidPackData
      ]
    }).annotateMerge(
      operation({
        id: "answerInboxItem",
        access: "operator",
        takesVoters: true,
        summary: "Answer a question",
        description:
          "Stores the answer of an assigned person, once for each item, and sends its message into the session. The same " +
          "answer of the same person again is answered with the first."
      })
    ),
    HttpApiEndpoint.post("challenge", "/inbox/:id/challenges", {
      params: id,
      headers: writeHeaders,
      success: PasskeyChallenge,
      error: [
        Failure.PersonForbidden,
        Failure.PasskeyMissing,
        Failure.ItemNotFound,
        Failure.ItemNotOpen,
        Failure.ItemClosed,
        Failure.InboxDatabaseAway,
        Failure.NoPeopleDatabase,
        Failure.InvalidPackData
      ]
    }).annotateMerge(
      operation({
        id: "challengeInboxItem",
        access: "operator",
        takesVoters: true,
        summary: "Begin an answer with a passkey",
        description:
          "Makes the nonce that a passkey signs together with the answer, once and within five minutes, and lists the " +
          "passkeys of the caller that count: those of this page, enrolled before the question opened."
      })
    ),
    HttpApiEndpoint.post("return", "/inbox/:id/return", {
      params: id,
      headers: writeHeaders,
      payload: bodySchema(ReturnRequest, { unknownKeys: "reject" }),
      success: ReturnedItem,
      error: [
        Failure.InvalidReturn,
        Failure.PersonForbidden,
        Failure.ItemNotFound,
        Failure.ItemNotOpen,
        Failure.ItemClosed,
        Failure.InboxDatabaseAway,
        Failure.NoPeopleDatabase,
        Failure.InvalidPackData
      ]
    }).annotateMerge(
      operation({
        id: "returnInboxItem",
        access: "operator",
        takesVoters: true,
        summary: "Return a question",
        description:
          "Gives an open item back to all who are assigned to it, or adds a colleague. All who could answer it before still can."
      })
    )
  )
  .add(
    HttpApiEndpoint.post("question", "/inbox/:id/question", {
      params: id,
      headers: writeHeaders,
      payload: bodySchema(QuestionRequest, { unknownKeys: "reject" }),
      success: QuestionedItem,
      error: [
        Failure.InvalidQuestion,
        Failure.PersonForbidden,
        Failure.ItemNotFound,
        Failure.ItemNotOpen,
        Failure.ItemClosed,
        Failure.TooManyQuestions,
        Failure.InboxDatabaseAway,
        Failure.NoPeopleDatabase,
        Failure.InvalidPackData
      ]
    }).annotateMerge(
      operation({
        id: "questionInboxItem",
        access: "operator",
        takesVoters: true,
        summary: "Send a question to the agents",
        description:
          "Stores a question about an open item, and adds it to the run as an artifact of the kind `people.question`. The " +
          "session gets no message."
      })
    )
  )
  .annotateMerge(tag("Inbox", "Questions to people, and their answers")) {}
