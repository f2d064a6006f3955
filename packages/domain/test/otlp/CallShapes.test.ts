import { call, describeShapes, usage } from "./support/Shapes.ts"
import { agent, chat, event, openInference, span, tool } from "./support/Spans.ts"

describeShapes("calls of emitters without a recording", {
  "LlamaIndex and DSPy: chains, retrievers and model calls without an agent": {
    spans: [
      span("q", [0, 99], openInference("CHAIN", { "input.value": "why", "output.value": "because" }), {
        name: "RAG.forward"
      }),
      span("r", [1, 9], openInference("RETRIEVER", { "input.value": "why" }), { parent: "q", name: "Retriever" }),
      span("e", [2, 3], openInference("EMBEDDING", { "embedding.model_name": "emb", "llm.token_count.prompt": 2 }), {
        parent: "r"
      }),
      span("c", [10, 20], openInference("LLM", { "llm.model_name": "gpt-4o", "llm.token_count.prompt": 7 }), {
        parent: "q"
      })
    ],
    says: {
      name: "RAG",
      participants: ["shop"],
      finalAnswer: "because",
      calls: [call("shop", usage(2, 0), "emb"), call("shop", usage(7, 0))],
      tools: [{ name: "Retriever", agent: "shop", ok: true }]
    }
  },
  "Mastra: types of its own": {
    spans: [
      span("a", [0, 50], { "mastra.span.type": "agent_run", "gen_ai.agent.name": "cook" }),
      span(
        "c",
        [1, 9],
        { "mastra.span.type": "model_generation", "gen_ai.request.model": "gpt-4o", "gen_ai.usage.input_tokens": 5 },
        { parent: "a" }
      ),
      span("t", [10, 11], { "mastra.span.type": "tool_call", "gen_ai.tool.name": "oven" }, { parent: "a" })
    ],
    says: {
      participants: ["cook"],
      calls: [call("cook", usage(5, 0))],
      tools: [{ name: "oven", agent: "cook", ok: true }]
    }
  },
  "Haystack: components of a pipeline": {
    spans: [
      span("p", [0, 50], {}, { name: "haystack.pipeline.run" }),
      span(
        "g",
        [1, 9],
        { "haystack.component.name": "llm", "haystack.component.type": "OpenAIChatGenerator" },
        {
          parent: "p",
          name: "haystack.component.run"
        }
      )
    ],
    says: { participants: ["shop"], calls: [{ agent: "shop", model: undefined, ok: true, usage: undefined }] }
  },
  "LiteLLM: one request with a raw request inside": {
    spans: [
      span("r", [0, 9], { ...chat(10, 2), "gen_ai.operation.name": "acompletion" }, { name: "litellm_request" }),
      span("raw", [1, 8], { "llm.openai.messages": "[]" }, { parent: "r", name: "raw_gen_ai_request" })
    ],
    says: { calls: [call("shop", usage(10, 2))], totals: { input: 10, output: 2 } }
  },
  "Langfuse: observations with their usage as one object": {
    spans: [
      span("a", [0, 50], { "langfuse.observation.type": "agent", "langfuse.session.id": "s1" }, { name: "helper" }),
      span(
        "g",
        [1, 9],
        {
          "langfuse.observation.type": "generation",
          "langfuse.observation.model.name": "gpt-4o",
          "langfuse.observation.usage_details": '{"input":10,"output":2,"total":12}',
          "langfuse.observation.cost_details": '{"total":0.5}'
        },
        { parent: "a" }
      ),
      span("t", [10, 11], { "langfuse.observation.type": "tool" }, { parent: "a", name: "lookup" })
    ],
    says: {
      participants: ["helper"],
      conversationId: "s1",
      calls: [call("helper", usage(10, 2))],
      tools: [{ name: "lookup", agent: "helper", ok: true }]
    }
  },
  "Claude Agent SDK: a sub-agent behind the tool Task": {
    spans: [
      span("i", [0, 99], {}, { name: "claude_code.interaction" }),
      span(
        "c1",
        [1, 9],
        { model: "claude", input_tokens: 10, output_tokens: 2 },
        {
          parent: "i",
          name: "claude_code.llm_request"
        }
      ),
      span(
        "t",
        [10, 50],
        openInference("TOOL", { "tool.name": "Task", "input.value": '{"subagent_type":"reviewer"}' }),
        {
          parent: "i"
        }
      ),
      span(
        "c2",
        [11, 20],
        { model: "claude", input_tokens: 5, output_tokens: 1 },
        {
          parent: "t",
          name: "claude_code.llm_request"
        }
      )
    ],
    says: {
      participants: ["reviewer", "shop"],
      invocations: ["reviewer"],
      calls: [call("shop", usage(10, 2), "claude"), call("reviewer", usage(5, 1), "claude")]
    }
  },
  "AI SDK, older telemetry: the outer span repeats the inner one": {
    spans: [
      span("o", [0, 50], {
        "ai.operationId": "ai.generateText",
        "ai.telemetry.functionId": "cook",
        "ai.usage.promptTokens": 10
      }),
      span(
        "i",
        [1, 9],
        {
          "ai.operationId": "ai.generateText.doGenerate",
          "ai.telemetry.functionId": "cook",
          "ai.model.id": "gpt-4o",
          "ai.model.provider": "openai.chat",
          "ai.usage.promptTokens": 10,
          "ai.usage.completionTokens": 2,
          "gen_ai.usage.input_tokens": 10,
          "gen_ai.usage.output_tokens": 2
        },
        { parent: "o" }
      ),
      span("t", [10, 11], { "ai.operationId": "ai.toolCall", "ai.toolCall.name": "oven" }, { parent: "o" })
    ],
    says: {
      participants: ["cook"],
      invocations: ["cook"],
      totals: { input: 10, output: 2 },
      tools: [{ name: "oven", agent: "cook", ok: true }]
    }
  },
  "Model Context Protocol: a client repeats the call of the tool around it": {
    spans: [
      span("a", [0, 50], agent("cook")),
      span("t", [1, 9], tool("oven"), { parent: "a" }),
      span("rpc", [2, 8], { "rpc.system": "jsonrpc" }, { parent: "t" }),
      span("m", [3, 7], { "mcp.method.name": "tools/call", "mcp.tool.name": "oven" }, { parent: "rpc" })
    ],
    says: { tools: [{ name: "oven", agent: "cook", ok: true }] }
  },
  "older names of Pydantic AI and Google": {
    spans: [
      span("a", [0, 50], { agent_name: "cook" }, { name: "agent run" }),
      span("t", [1, 9], { "gen_ai.tool.name": "oven" }, { parent: "a", name: "running tool" }),
      span("b", [10, 40], {}, { parent: "a", name: "agent_run [baker]" }),
      span(
        "c",
        [11, 12],
        { "gen_ai.request.model": "gpt-4o", "gen_ai.usage.input_tokens": 3 },
        { parent: "b", name: "call_llm" }
      )
    ],
    says: {
      participants: ["baker", "cook"],
      calls: [call("baker", usage(3, 0))],
      tools: [{ name: "oven", agent: "cook", ok: true }]
    }
  },
  "an input that leaves cached tokens out": {
    spans: [
      span("c", [0, 9], {
        ...chat(100, 10),
        "gen_ai.usage.cache_read.input_tokens": 900,
        "gen_ai.usage.cache_write.input_tokens": 50,
        "gen_ai.usage.total_tokens": 1_060
      })
    ],
    says: { calls: [call("shop", usage(1_050, 10, { cacheRead: 900, cacheWrite: 50 }))] }
  },
  "messages as events of the span": {
    spans: [
      span("a", [0, 9], chat(1, 1), {
        events: [
          event("gen_ai.user.message", { content: "hello" }),
          event("gen_ai.choice", { message: "world", finish_reason: "stop" })
        ]
      })
    ],
    says: { finalAnswer: "world" }
  }
})
