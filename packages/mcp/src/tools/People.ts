import type { InboxEntry } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { defined } from "../Shape.ts"
import { page, tool } from "../ToolSpec.ts"
import { json } from "./Decisions.ts"
import { limit, text } from "./Inputs.ts"
import { launcherOf } from "./Scenarios.ts"

const scalar = Schema.optionalKey(Schema.Json)

const itemRow = ({ deadlineAt, id, openedAt, scenarioRef, seat, sessionId, state }: InboxEntry) =>
  defined({ id, state, seat, scenarioRef, sessionId, openedAt, deadlineAt })

const inboxList = tool({
  name: "inbox_list",
  title: "List questions to people",
  description:
    "Questions of sessions to people, open ones unless state is given, the oldest first. Read only: an assistant never " +
    "answers for a person. Not for runs that wait (run_get).",
  access: "viewer",
  launches: true,
  input: {
    state: Schema.optionalKey(Schema.Literals(["waiting", "open", "answered", "sent", "accepted", "expired"])),
    seat: Schema.optionalKey(text("Only items of seats with this id")),
    limit: limit(10, 10),
    cursor: Schema.optionalKey(text("nextCursor of the page before"))
  },
  output: page,
  call: Effect.fnUntraced(function* (input, context) {
    const { inbox } = yield* launcherOf(context)
    const { data, nextCursor } = yield* inbox.list({
      query: {
        scope: "all",
        limit: input.limit ?? 10,
        ...(input.state !== undefined && { state: [input.state] }),
        ...(input.seat !== undefined && { seat: input.seat }),
        ...(input.cursor !== undefined && { cursor: input.cursor })
      }
    })
    return {
      facts: {},
      items: data.map((item) => ({
        row: itemRow(item),
        said: item.title === undefined ? [] : [{ of: { id: item.id }, text: item.title }],
        cursor: item.id
      })),
      nextCursor,
      rest: "inbox_show"
    }
  })
})

const inboxShow = tool({
  name: "inbox_show",
  title: "Read a question to a person",
  description:
    "One question to a person: its payload, the messages about it, the policy, what each act leads to. Votes that the " +
    "scenario withholds are withheld here too. Read only: an assistant never answers for a person.",
  access: "viewer",
  launches: true,
  input: { id: text("Id of the item, from inbox_list") },
  output: { id: scalar, state: scalar, seat: scalar, proposalHash: scalar, policy: scalar, consequences: scalar },
  call: Effect.fnUntraced(function* ({ id }, context) {
    const { inbox } = yield* launcherOf(context)
    const { hashed: _, messages, nonce: _nonce, payload, ...facts } = yield* inbox.show({ params: { id } })
    return {
      facts: json({ ...facts, payload: payload.decoded ?? null }),
      said: messages.flatMap(({ by, ordinal, reason, type }) =>
        reason === undefined ? [] : [{ of: { by, ordinal, type }, text: reason }]
      ),
      rest: "inbox_show"
    }
  })
})

/** The questions to people, read only. */
export const peopleTools = [inboxList, inboxShow]
