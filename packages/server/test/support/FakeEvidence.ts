import { ControlPlaneApi, EVIDENCE_CONTENT_TYPE } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

const zip = () => Effect.succeed(HttpServerResponse.text("PK", { contentType: EVIDENCE_CONTENT_TYPE }))

export const Evidence = HttpApiBuilder.group(ControlPlaneApi, "evidence", (handlers) =>
  handlers.handleAll({ ofRun: zip, ofRuns: zip })
)
