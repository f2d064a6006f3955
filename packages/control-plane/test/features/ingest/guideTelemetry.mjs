// Does what the set-up of the guides does, with the packages of OpenTelemetry that the service has.
import { AsyncLocalStorage } from "node:async_hooks"
import { context, ROOT_CONTEXT, trace } from "@opentelemetry/api"
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto"
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace"

const storage = new AsyncLocalStorage()
context.setGlobalContextManager({
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (active, work, self, ...given) => storage.run(active, () => work.apply(self, given))
})
export const telemetry = new TracerProvider({
  spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })]
})
trace.setGlobalTracerProvider(telemetry)
