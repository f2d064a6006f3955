import { create, createFileRegistry, type DescMethodServerStreaming, type DescMethodUnary } from "@bufbuild/protobuf"
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema
} from "@bufbuild/protobuf/wkt"
import { Code, ConnectError, type ConnectRouter, type HandlerContext } from "@connectrpc/connect"
import { MACPRuntimeService } from "@runplane/runtime"

const PACKAGE = "grpc.health.v1"

/** Numbers of the enumeration `ServingStatus`. */
const SERVING = 1
const SERVICE_UNKNOWN = 3

/** The standard health protocol, declared here: two messages do not need a generated file. */
const file = create(FileDescriptorProtoSchema, {
  name: "grpc/health/v1/health.proto",
  package: PACKAGE,
  syntax: "proto3",
  messageType: [
    {
      name: "HealthCheckRequest",
      field: [
        {
          name: "service",
          number: 1,
          type: FieldDescriptorProto_Type.STRING,
          label: FieldDescriptorProto_Label.OPTIONAL
        }
      ]
    },
    {
      name: "HealthCheckResponse",
      enumType: [
        {
          name: "ServingStatus",
          value: [
            { name: "UNKNOWN", number: 0 },
            { name: "SERVING", number: SERVING },
            { name: "NOT_SERVING", number: 2 },
            { name: "SERVICE_UNKNOWN", number: SERVICE_UNKNOWN }
          ]
        }
      ],
      field: [
        {
          name: "status",
          number: 1,
          type: FieldDescriptorProto_Type.ENUM,
          typeName: `.${PACKAGE}.HealthCheckResponse.ServingStatus`,
          label: FieldDescriptorProto_Label.OPTIONAL
        }
      ]
    }
  ],
  service: [
    {
      name: "Health",
      method: [
        {
          name: "Check",
          inputType: `.${PACKAGE}.HealthCheckRequest`,
          outputType: `.${PACKAGE}.HealthCheckResponse`
        },
        {
          name: "Watch",
          inputType: `.${PACKAGE}.HealthCheckRequest`,
          outputType: `.${PACKAGE}.HealthCheckResponse`,
          serverStreaming: true
        }
      ]
    }
  ]
})

const service = createFileRegistry(create(FileDescriptorSetSchema, { file: [file] })).getService(`${PACKAGE}.Health`)

/** Empty asks about the whole server. */
const KNOWN = new Set<unknown>(["", MACPRuntimeService.typeName, `${PACKAGE}.Health`])

/**
 * Serves `grpc.health.v1.Health` (docs/runtime.md#rpcs). A server that answers is serving: there is nothing it depends
 * on.
 */
export const serveHealth = (router: ConnectRouter): void => {
  for (const method of service?.methods ?? []) {
    if (method.methodKind === "unary") router.rpc<DescMethodUnary>({ ...method, methodKind: "unary" }, check)
    else router.rpc<DescMethodServerStreaming>({ ...method, methodKind: "server_streaming" }, watch)
  }
}

const check = (request: object) => {
  if (!KNOWN.has(serviceOf(request))) throw new ConnectError("unknown service", Code.NotFound)
  return { status: SERVING }
}

async function* watch(request: object, call: HandlerContext) {
  yield { status: KNOWN.has(serviceOf(request)) ? SERVING : SERVICE_UNKNOWN }
  await new Promise<void>((resolve) => {
    if (call.signal.aborted) resolve()
    else call.signal.addEventListener("abort", () => resolve(), { once: true })
  })
}

const serviceOf = (request: object): unknown => ("service" in request ? request.service : undefined)
