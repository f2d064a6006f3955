import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSwagger from "effect/http-api/HttpApiSwagger"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Layer from "effect/Layer"

/** `/docs`, a page without external parts to read and try the API; and `/docs-json`, the document itself. */
export const documentRoutes = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
) =>
  Layer.merge(
    HttpRouter.add("GET", "/docs-json", () => HttpServerResponse.json(OpenApi.fromApi(api))),
    HttpApiSwagger.layer(api, { path: "/docs" })
  )
