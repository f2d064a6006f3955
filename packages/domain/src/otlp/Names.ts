/**
 * The names under which emitters state what is read of a span or log record (docs/reference/ingest.md#attributes): a
 * row for each of our names, with theirs in the order in which they are read. A new name is one more entry. A name that
 * ends in `.*` stands for all names with that beginning.
 */
export const ATTRIBUTES = {
  provider: {
    unit: "text",
    names: [
      "gen_ai.provider.name",
      "gen_ai.system",
      "llm.provider",
      "llm.system",
      "ai.model.provider",
      "langfuse.observation.model.provider"
    ]
  },
  model: {
    unit: "text",
    names: [
      "gen_ai.response.model",
      "gen_ai.request.model",
      "llm.model_name",
      "llm.response.model",
      "llm.request.model",
      "embedding.model_name",
      "reranker.model_name",
      "ai.response.model",
      "ai.model.id",
      "langfuse.observation.model.name"
    ]
  },
  agent: { unit: "text", names: ["gen_ai.agent.name", "agent.name", "agent_name", "lc_agent_name"] },
  agentId: { unit: "text", names: ["gen_ai.agent.id"] },
  workflow: {
    unit: "text",
    names: [
      "gen_ai.workflow.name",
      "traceloop.workflow.name",
      "workflow.name",
      "langfuse.trace.name",
      "workflow_builder.name"
    ]
  },
  input: {
    unit: "tokens",
    names: [
      "gen_ai.usage.input_tokens",
      "gen_ai.usage.prompt_tokens",
      "llm.token_count.prompt",
      "llm.usage.prompt_tokens",
      "ai.usage.inputTokens",
      "ai.usage.promptTokens",
      "ai.usage.tokens"
    ]
  },
  output: {
    unit: "tokens",
    names: [
      "gen_ai.usage.output_tokens",
      "gen_ai.usage.completion_tokens",
      "llm.token_count.completion",
      "llm.usage.completion_tokens",
      "ai.usage.outputTokens",
      "ai.usage.completionTokens"
    ]
  },
  cacheRead: {
    unit: "tokens",
    names: [
      "gen_ai.usage.cache_read.input_tokens",
      "gen_ai.usage.cache_read_input_tokens",
      "gen_ai.usage.cache_read_tokens",
      "gen_ai.usage.details.cache_read_tokens",
      "gen_ai.usage.details.cache_read_input_tokens",
      "gen_ai.usage.input_tokens.cached",
      "gen_ai.usage.input_cached_tokens",
      "gen_ai.usage.cached_tokens",
      "llm.token_count.prompt_details.cache_read",
      "llm.usage.cache_read_input_tokens",
      "ai.usage.cachedInputTokens"
    ]
  },
  cacheWrite: {
    unit: "tokens",
    names: [
      "gen_ai.usage.cache_write.input_tokens",
      "gen_ai.usage.cache_creation.input_tokens",
      "gen_ai.usage.cache_creation_input_tokens",
      "gen_ai.usage.cache_write_input_tokens",
      "gen_ai.usage.cache_write_tokens",
      "gen_ai.usage.details.cache_write_tokens",
      "gen_ai.usage.details.cache_creation_input_tokens",
      "gen_ai.usage.input_tokens.cache_write",
      "llm.token_count.prompt_details.cache_write",
      "llm.usage.cache_creation_input_tokens"
    ]
  },
  reasoning: {
    unit: "tokens",
    names: [
      "gen_ai.usage.reasoning.output_tokens",
      "gen_ai.usage.output_tokens.reasoning",
      "gen_ai.usage.reasoning_tokens",
      "gen_ai.usage.details.reasoning_tokens",
      "llm.token_count.completion_details.reasoning",
      "llm.usage.reasoning_tokens",
      "ai.usage.reasoningTokens"
    ]
  },
  total: {
    unit: "tokens",
    names: ["gen_ai.usage.total_tokens", "llm.token_count.total", "llm.usage.total_tokens", "ai.usage.totalTokens"]
  },
  cost: {
    unit: "US dollars",
    names: ["llm.cost.total", "gen_ai.usage.cost", "gen_ai.cost.total", "operation.cost", "gen_ai.usage.total_cost"]
  },
  responseId: { unit: "text", names: ["gen_ai.response.id", "ai.response.id"] },
  finishReasons: {
    unit: "text or list",
    names: ["gen_ai.response.finish_reasons", "ai.response.finishReason", "llm.finish_reason"]
  },
  firstChunkSeconds: { unit: "seconds", names: ["gen_ai.response.time_to_first_chunk"] },
  firstChunkMs: { unit: "milliseconds", names: ["gen_ai.server.time_to_first_token", "ai.response.msToFirstChunk"] },
  toolName: {
    unit: "text",
    names: ["gen_ai.tool.name", "tool.name", "tool_call.function.name", "ai.toolCall.name", "mcp.tool.name"]
  },
  toolCallId: { unit: "text", names: ["gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id"] },
  toolType: { unit: "text", names: ["gen_ai.tool.type"] },
  toolArguments: {
    unit: "JSON",
    names: [
      "gen_ai.tool.call.arguments",
      "tool_call.function.arguments",
      "ai.toolCall.args",
      "tool_arguments",
      "traceloop.entity.input",
      "langfuse.observation.input",
      "input.value",
      "gen_ai.prompt"
    ]
  },
  toolResult: {
    unit: "JSON",
    names: [
      "gen_ai.tool.call.result",
      "ai.toolCall.result",
      "tool_response",
      "traceloop.entity.output",
      "langfuse.observation.output",
      "output.value",
      "gen_ai.completion"
    ]
  },
  instructions: { unit: "messages", names: ["gen_ai.system_instructions"] },
  inputMessages: {
    unit: "messages",
    names: ["gen_ai.input.messages", "ai.prompt.messages", "ai.prompt", "gen_ai.prompt"]
  },
  /** The input, the answer and all between them. */
  allMessages: { unit: "messages", names: ["pydantic_ai.all_messages"] },
  outputMessages: {
    unit: "messages",
    names: ["gen_ai.output.messages", "ai.response.text", "ai.response.object", "final_result", "gen_ai.completion"]
  },
  inputValue: { unit: "JSON", names: ["input.value", "traceloop.entity.input", "langfuse.observation.input"] },
  outputValue: { unit: "JSON", names: ["output.value", "traceloop.entity.output", "langfuse.observation.output"] },
  conversation: {
    unit: "text",
    names: [
      "gen_ai.conversation.id",
      "session.id",
      "langfuse.session.id",
      "traceloop.association.properties.session_id",
      "traceloop.association.properties.thread_id",
      "metadata.thread_id"
    ]
  },
  user: { unit: "text", names: ["user.id", "langfuse.user.id", "enduser.id"] },
  promptName: { unit: "text", names: ["gen_ai.prompt.name", "langfuse.observation.prompt.name"] },
  promptVersion: { unit: "text", names: ["runplane.prompt.version", "langfuse.observation.prompt.version"] },
  promptHash: { unit: "text", names: ["runplane.prompt.hash"] },
  runKey: { unit: "text", names: ["runplane.run.key"] },
  scenario: { unit: "text", names: ["runplane.scenario"] },
  policy: { unit: "text", names: ["runplane.policy"] },
  tags: { unit: "text or list", names: ["runplane.tags", "langfuse.trace.tags"] },
  session: { unit: "text", names: ["macp.session.id"] },
  environment: { unit: "text", names: ["deployment.environment.name", "deployment.environment"] }
} as const satisfies Readonly<Record<string, { readonly unit: string; readonly names: ReadonlyArray<string> }>>

/** Our name of what a span or log record states. */
export type AttributeName = keyof typeof ATTRIBUTES

/** Sums of an agent over its calls: they never count, not even as usage that is stated. */
export const NEVER_COUNTED = "gen_ai.aggregated_usage."

/**
 * Names with the text of messages, arguments, results and instructions: `OTLP_CONTENT=drop` removes them. A name that
 * ends in a dot stands for all names with that beginning.
 */
export const CONTENT_NAMES: ReadonlyArray<string> = [
  ...[ATTRIBUTES.toolArguments, ATTRIBUTES.toolResult, ATTRIBUTES.instructions].flatMap(({ names }) => names),
  ...[ATTRIBUTES.inputMessages, ATTRIBUTES.outputMessages].flatMap(({ names }) => names),
  ...[ATTRIBUTES.inputValue, ATTRIBUTES.outputValue].flatMap(({ names }) => names),
  ...["gen_ai.prompt.", "gen_ai.completion.", "llm.input_messages.", "llm.output_messages.", "llm.prompts"],
  ...["llm.tools.", "llm.invocation_parameters", "gen_ai.tool.definitions", "pydantic_ai.", "gen_ai.event.content"],
  ...["embedding.embeddings.", "retrieval.documents.", "reranker.", "ai.response.", "ai.prompt.", "ai.settings."],
  ...["gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response", "gcp.vertex.agent.tool_call_args"],
  ...["crew_agents", "crew_tasks", "crew_inputs", "formatted_description", "model_request_parameters"],
  ...["gcp.vertex.agent.tool_response", "input.mime_type", "output.mime_type", "content", "message"]
]

/** Frameworks that provider attributes name: the provider then comes from the model. */
export const FRAMEWORKS: ReadonlySet<string> = new Set([
  ...["microsoft.agent_framework", "agent_framework", "semantic_kernel", "autogen", "strands-agents", "strands"],
  ...["langchain", "langgraph", "crewai", "pydantic-ai", "pydantic_ai", "openai_agents", "openai-agents", "agno"],
  ...["llamaindex", "llama_index", "haystack", "mastra", "smolagents", "dspy", "litellm", "traceloop", "langfuse"],
  ...["google-adk", "google_adk", "gcp.vertex.agent", "ai-sdk", "vercel", "claude-agent-sdk", "letta", "spring_ai"]
])
