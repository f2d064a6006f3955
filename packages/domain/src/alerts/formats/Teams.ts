import type * as Schema from "effect/Schema"
import { teamsMessage } from "../../values/ChatMessage.ts"
import type { AlertNotice } from "../Firing.ts"
import { messageOf } from "./AlertText.ts"

export const teamsBody = (notice: AlertNotice): Schema.Json => teamsMessage(messageOf(notice))
