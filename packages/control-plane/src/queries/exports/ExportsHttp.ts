import { ControlPlaneApi } from "@runplane/api"
import { cutOnFailure } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { HttpApiBuilder } from "effect/http-api"
import * as Stream from "effect/Stream"
import { asCaller } from "../../platform/http/CurrentCaller.ts"
import { type ExportText, exportTexts } from "./ExportText.ts"
import { RunExports } from "./RunExports.ts"

/** A response that is made as the client receives it; an error cuts the connection. */
export const exportAnswer = (text: ExportText, contentType: string, status = 200) =>
  HttpServerResponse.stream(Stream.encodeText(cutOnFailure("an export")(text)), { contentType, status })

/** The `exports` group. */
export const ExportsHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "exports",
  Effect.fnUntraced(function* (handlers) {
    const exports = yield* RunExports
    return handlers.handleAll({
      export: ({ params, query: { format, ...options } }) =>
        asCaller((caller) =>
          Effect.map(exports.one(params.id, format, options, caller), (text) =>
            exportAnswer(text, exportTexts[format].contentType)
          )
        )
    })
  })
)
