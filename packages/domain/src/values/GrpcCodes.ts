import * as Struct from "effect/Struct"

/** The status codes of gRPC by name; OK is not a failure. */
export const GRPC_CODES = {
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16
} as const

export type GrpcStatusName = keyof typeof GRPC_CODES

/** Name of a gRPC status code; numbers that gRPC does not define are UNKNOWN. */
export const grpcStatusName = (code: number): GrpcStatusName => NAMES.get(code) ?? "UNKNOWN"

const NAMES: ReadonlyMap<number, GrpcStatusName> = new Map(
  Struct.keys(GRPC_CODES).map((name) => [GRPC_CODES[name], name] as const)
)
