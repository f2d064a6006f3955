import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import { cutOnFailure } from "../../platform/http/JsonAnswer.ts"
import type { ExportText } from "./ExportText.ts"

/** An answer of exported text, made as the client takes it; what fails on the way cuts the connection. */
export const exportAnswer = (text: ExportText, contentType: string, status = 200) =>
  HttpServerResponse.stream(Stream.encodeText(cutOnFailure("an export")(text)), { contentType, status })
