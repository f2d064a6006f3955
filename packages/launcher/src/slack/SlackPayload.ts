import { AnswerAct } from "@runplane/domain"
import * as Schema from "effect/Schema"

/** The largest body of a press: Slack bounds values and texts, and a press has few of them. Bytes. */
export const MAX_PRESS_BYTES = 65_536

const sha256 = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))
const uuid = Schema.String.check(Schema.isPattern(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/))

/** What a button answers, and what the message has shown: the rows decide whether it fits. */
export const Button = Schema.Struct({
  v: Schema.Literal(1),
  item: uuid,
  act: AnswerAct,
  proposalHash: sha256,
  basis: Schema.Struct({ ordinal: Schema.Int, sha256 })
})
export type Button = typeof Button.Type

const ButtonText = Schema.fromJsonString(Button)
export const encodeButton = Schema.encodeSync(ButtonText)
export const readButton = Schema.decodeUnknownOption(ButtonText)

/** What the form for a reason carries: the button, and where its sentence goes. */
const FormText = Schema.fromJsonString(Schema.Struct({ button: Button, responseUrl: Schema.String }))
export const encodeForm = Schema.encodeSync(FormText)
export const readForm = Schema.decodeUnknownOption(FormText)

/** The ids of the block and of its field in the form. */
export const REASON = "reason"

const User = Schema.Struct({ id: Schema.String, team_id: Schema.optionalKey(Schema.NullOr(Schema.String)) })
const Team = Schema.NullOr(Schema.Struct({ id: Schema.String }))

const Pressed = Schema.Struct({
  type: Schema.Literal("block_actions"),
  team: Team,
  user: User,
  trigger_id: Schema.optionalKey(Schema.String),
  response_url: Schema.optionalKey(Schema.String),
  actions: Schema.Array(Schema.Struct({ value: Schema.optionalKey(Schema.String) })).check(Schema.isMinLength(1))
})

const Submitted = Schema.Struct({
  type: Schema.Literal("view_submission"),
  team: Team,
  user: User,
  view: Schema.Struct({
    private_metadata: Schema.String,
    state: Schema.Struct({
      values: Schema.Struct({
        [REASON]: Schema.Struct({ [REASON]: Schema.Struct({ value: Schema.NullOr(Schema.String) }) })
      })
    })
  })
})

/** What Slack sends: a press of a button, or a form that was filled in. */
export const SlackPayload = Schema.Union([Pressed, Submitted])
export type SlackPayload = typeof SlackPayload.Type

const decodePayload = Schema.decodeUnknownOption(Schema.fromJsonString(SlackPayload))

/** The payload of a form; none when it has another form than those above. */
export const readSlackPayload = (body: Uint8Array) =>
  decodePayload(new URLSearchParams(new TextDecoder().decode(body)).get("payload"))

/** Whether a payload is of this workspace. In a shared channel members of others press the same buttons. */
export const isOfTeam = ({ team, user }: SlackPayload, expected: string): boolean =>
  team?.id === expected && (user.team_id ?? expected) === expected
