import type * as Schema from "effect/Schema"
import { slackMessage } from "../../values/ChatMessage.ts"
import type { AlertNotice } from "../Firing.ts"
import { messageOf } from "./AlertText.ts"

export const slackBody = (notice: AlertNotice): Schema.Json => slackMessage(messageOf(notice))
