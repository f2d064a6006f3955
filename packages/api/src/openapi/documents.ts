import * as OpenApi from "effect/http-api/OpenApi"
import { ControlPlaneApi } from "../control-plane/ControlPlaneApi.ts"
import { LauncherApi } from "../launcher/LauncherApi.ts"

/** The OpenAPI documents of both services, by the file that holds them. Always the same text for the same declarations. */
export const openApiDocuments = (): Readonly<Record<string, string>> => ({
  "control-plane.json": textOf(OpenApi.fromApi(ControlPlaneApi)),
  "launcher.json": textOf(OpenApi.fromApi(LauncherApi))
})

const textOf = (document: OpenApi.OpenAPISpec) => `${JSON.stringify(document, null, 2)}\n`
