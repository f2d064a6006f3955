import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Failure from "../errors/LauncherFailures.ts"
import { operation, tag } from "../openapi/Describe.ts"
import { bodySchema } from "../validation/RequestSchema.ts"
import { AnsweredItem } from "./Inbox.ts"
import { LinkAnswerRequest, LinkedItem, LinkRequest, SentCode } from "./Links.ts"

const refused = [
  Failure.LinkNotFound,
  Failure.LinkOver,
  Failure.LinkRefused,
  Failure.InboxDatabaseAway,
  Failure.NoPeopleDatabase,
  Failure.InvalidPackData
]

/** The links of persons without a sign-in (docs/reference/people.md#links). */
export class LinksGroup extends HttpApiGroup.make("links")
  .add(
    HttpApiEndpoint.post("read", "/inbox/link/read", {
      payload: bodySchema(LinkRequest, { unknownKeys: "reject" }),
      success: LinkedItem,
      error: refused
    }).annotateMerge(
      operation({
        id: "readLink",
        access: "public",
        summary: "Read the question of a personal link",
        description:
          "Everything that an answer rests on. It changes nothing, and notes no time: a link proves no person."
      })
    ),
    HttpApiEndpoint.post("code", "/inbox/link/code", {
      payload: bodySchema(LinkRequest, { unknownKeys: "reject" }),
      success: SentCode,
      error: [Failure.TooManyCodes, Failure.CodeNotSent, ...refused]
    }).annotateMerge(
      operation({
        id: "sendLinkCode",
        access: "public",
        summary: "Send a code to the person of a link",
        description:
          "Sends six digits to the address `code` of the person in people.yaml. They count for ten minutes, and the codes " +
          "before them no longer."
      })
    ),
    HttpApiEndpoint.post("answer", "/inbox/link/answer", {
      payload: bodySchema(LinkAnswerRequest, { unknownKeys: "reject" }),
      success: AnsweredItem,
      error: [
        Failure.LinkCodeMissing,
        Failure.LinkCodeWrong,
        Failure.InvalidAnswer,
        Failure.PersonForbidden,
        Failure.ItemNotFound,
        Failure.ItemAnswered,
        Failure.ItemStale,
        Failure.ItemNotOpen,
        Failure.BasisUnknown,
        Failure.HistoryGone,
        Failure.ItemClosed,
        Failure.TooManyAnswers,
        Failure.SessionUnread,
        ...refused
      ]
    }).annotateMerge(
      operation({
        id: "answerByLink",
        access: "public",
        summary: "Answer by a personal link",
        description:
          "Stores the answer of the person of the link, with the proof `link`, and sends its message into the session. " +
          "Five wrong codes end the link."
      })
    )
  )
  .annotateMerge(tag("Links", "Answers of persons without a sign-in")) {}
