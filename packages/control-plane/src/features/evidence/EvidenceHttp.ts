import { ControlPlaneApi, EVIDENCE_CONTENT_TYPE, runQueryFields } from "@runplane/api"
import { cutOnFailure } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { HttpApiBuilder } from "effect/http-api"
import * as Layer from "effect/Layer"
import { asCaller } from "../../platform/http/CurrentCaller.ts"
import { orSearchRefused } from "../../platform/http/SearchAnswers.ts"
import { ExportRepository } from "../../queries/exports/ExportRepository.ts"
import { type Bundle, Evidence } from "./Evidence.ts"

const answer = ({ content, fileName }: Bundle) =>
  HttpServerResponse.stream(cutOnFailure("an evidence bundle")(content), {
    contentType: EVIDENCE_CONTENT_TYPE,
    headers: { "content-disposition": `attachment; filename="${fileName}"` }
  })

/** The `evidence` group (docs/reference/evidence.md). */
export const EvidenceHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "evidence",
  Effect.fnUntraced(function* (handlers) {
    const evidence = yield* Evidence
    return handlers.handleAll({
      ofRun: ({ params, query: { includeMarks, includeRaw } }) =>
        asCaller((caller) => Effect.map(evidence.ofRun(params.id, { includeRaw, includeMarks }, caller), answer)),
      ofRuns: ({ query }) =>
        asCaller((caller) => orSearchRefused(runQueryFields)(Effect.map(evidence.ofRuns(query, caller), answer)))
    })
  })
).pipe(Layer.provide(Evidence.layer.pipe(Layer.provide(ExportRepository.layer))))
