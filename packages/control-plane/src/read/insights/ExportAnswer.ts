import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import type { ExportText } from "./ExportText.ts"

/**
 * An answer of exported text, made as the client takes it. What fails on the way cuts the connection, so that a partial
 * export cannot be taken for a whole one.
 */
export const exportAnswer = (text: ExportText, contentType: string, status = 200) =>
  HttpServerResponse.stream(
    Stream.encodeText(
      Stream.tapCause(text, (cause) =>
        Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logWarning("an export was cut", cause)
      )
    ),
    { contentType, status }
  )
