import { assert, describe, it } from "@effect/vitest"
import type { Attributes, Telemetry } from "@runplane/domain"
import { agent, chat, event, openInference, span, spanId, TRACE_ID, tool } from "./support/Spans.ts"
import { runStory } from "./support/Stories.ts"
import { type StorySummary, summaryOf } from "./support/Summary.ts"

/** Traces in the shape of emitters of which no recording exists, made by hand from their names. */

interface Shape {
  readonly spans: ReadonlyArray<Telemetry>
  readonly says: Partial<StorySummary>
}

const usage = (
  input: number,
  output: number,
  parts: Partial<Record<"cacheRead" | "cacheWrite" | "reasoning", number>> = {}
) => ({
  input,
  output,
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
  ...parts
})

const call = (name: string, tokens: ReturnType<typeof usage> | undefined, model = "gpt-4o") => ({
  agent: name,
  model,
  ok: true,
  usage: tokens
})

const langGraph = (namespace: string, more: Attributes = {}): Attributes => ({
  metadata: JSON.stringify({ langgraph_checkpoint_ns: namespace, thread_id: "t1", ...more })
})

const shapes: Readonly<Record<string, Shape>> = {
  "Strands: a swarm with its older token names and cycles of an event loop": {
    spans: [
      span("swarm", [0, 99], { "gen_ai.operation.name": "invoke_swarm", "gen_ai.agent.name": "committee" }),
      span("a", [1, 50], { ...agent("lead"), "gen_ai.usage.prompt_tokens": 30 }, { parent: "swarm" }),
      span("loop", [2, 40], { "gen_ai.operation.name": "execute_event_loop_cycle" }, { parent: "a" }),
      span(
        "c",
        [3, 9],
        {
          "gen_ai.operation.name": "chat",
          "gen_ai.system": "strands-agents",
          "gen_ai.request.model": "gpt-4o",
          "gen_ai.usage.prompt_tokens": 10,
          "gen_ai.usage.input_tokens": 10,
          "gen_ai.usage.completion_tokens": 2,
          "gen_ai.usage.output_tokens": 2,
          "gen_ai.usage.total_tokens": 32,
          "gen_ai.usage.cache_read_input_tokens": 20
        },
        { parent: "loop" }
      ),
      span("t", [10, 11], tool("handoff_to_agent", { "gen_ai.tool.call.arguments": '{"agent_name": "sre"}' }), {
        parent: "loop"
      }),
      span("b", [51, 60], agent("sre"), { parent: "swarm" })
    ],
    says: {
      name: "committee",
      participants: ["lead", "sre"],
      calls: [call("lead", usage(30, 2, { cacheRead: 20 }))],
      handoffs: ["lead > sre"],
      tools: []
    }
  },
  "LangGraph by OpenLLMetry: tasks with the checkpoint namespace": {
    spans: [
      span(
        "w",
        [0, 99],
        { "traceloop.span.kind": "workflow", "traceloop.entity.name": "LangGraph" },
        {
          name: "LangGraph.workflow"
        }
      ),
      span(
        "n",
        [1, 50],
        {
          "traceloop.span.kind": "task",
          "traceloop.entity.name": "researcher",
          "traceloop.association.properties.langgraph_checkpoint_ns": "researcher:1",
          "traceloop.association.properties.thread_id": "t1"
        },
        { parent: "w", name: "researcher.task" }
      ),
      span(
        "r",
        [2, 3],
        { "traceloop.span.kind": "task", "traceloop.entity.name": "RunnableSequence" },
        { parent: "n" }
      ),
      span(
        "c",
        [3, 9],
        {
          "llm.request.type": "chat",
          "gen_ai.system": "Langchain",
          "gen_ai.response.model": "gpt-4o",
          "gen_ai.usage.prompt_tokens": 10,
          "gen_ai.usage.completion_tokens": 2,
          "llm.usage.total_tokens": 12
        },
        { parent: "r", name: "ChatOpenAI.chat" }
      ),
      span(
        "router",
        [60, 61],
        {
          "traceloop.span.kind": "task",
          "traceloop.association.properties.langgraph_checkpoint_ns": "router:2"
        },
        { parent: "w", name: "router.task" }
      )
    ],
    says: {
      name: "LangGraph",
      participants: ["researcher"],
      invocations: ["researcher"],
      calls: [call("researcher", usage(10, 2))]
    }
  },
  "LangGraph: an agent alone, whose nodes are only steps": {
    spans: [
      span("g", [0, 99], openInference("CHAIN", langGraph("")), { name: "support" }),
      span("m", [1, 9], openInference("CHAIN", langGraph("model:1")), { parent: "g", name: "model" }),
      span("c", [2, 8], openInference("LLM", { "llm.model_name": "gpt-4o", "llm.token_count.prompt": 4 }), {
        parent: "m"
      })
    ],
    says: { name: "support", participants: ["shop"], invocations: [], calls: [call("shop", usage(4, 0))] }
  },
  "LangGraph: a supervisor that calls agents by tools": {
    spans: [
      span("g", [0, 99], openInference("CHAIN", langGraph("", { lc_agent_name: "boss" })), { name: "boss" }),
      span("m", [1, 9], openInference("CHAIN", langGraph("model:1", { lc_agent_name: "boss" })), { parent: "g" }),
      span("c1", [2, 8], openInference("LLM", { "llm.model_name": "gpt-4o", "llm.token_count.prompt": 4 }), {
        parent: "m"
      }),
      span("t", [10, 50], openInference("TOOL", { "tool.name": "call_sre" }), { parent: "g" }),
      span("s", [11, 49], openInference("CHAIN", langGraph("tools:2", { lc_agent_name: "sre" })), { parent: "t" }),
      span("c2", [12, 20], openInference("LLM", { "llm.model_name": "gpt-4o", "llm.token_count.prompt": 5 }), {
        parent: "s"
      })
    ],
    says: {
      name: "boss",
      participants: ["boss", "sre"],
      invocations: ["boss", "sre"],
      handoffs: ["boss > sre"],
      calls: [call("boss", usage(4, 0)), call("sre", usage(5, 0))],
      tools: [{ name: "call_sre", agent: "boss", ok: true }]
    }
  },
  "OpenAI Agents by OpenLLMetry: handoffs with an arrow": {
    spans: [
      span("w", [0, 99], { "traceloop.span.kind": "workflow", "traceloop.entity.name": "Agent Workflow" }),
      span(
        "a",
        [1, 20],
        { "traceloop.span.kind": "agent", "gen_ai.agent.name": "lead" },
        { parent: "w", name: "lead.agent" }
      ),
      span(
        "c",
        [2, 9],
        { "llm.request.type": "chat", "gen_ai.request.model": "gpt-4o" },
        { parent: "a", name: "openai.response" }
      ),
      span("h", [10, 11], { "traceloop.span.kind": "handoff" }, { parent: "a", name: "lead → sre.handoff" }),
      span(
        "b",
        [21, 40],
        { "traceloop.span.kind": "agent", "gen_ai.agent.name": "sre" },
        { parent: "w", name: "sre.agent" }
      )
    ],
    says: {
      participants: ["lead", "sre"],
      handoffs: ["lead > sre"],
      calls: [call("lead", undefined)],
      invocations: ["lead", "sre"]
    }
  },
  "smolagents: the name before the method": {
    spans: [
      span("r", [0, 99], openInference("AGENT", { "output.value": "42" }), { name: "CodeAgent.run" }),
      span("s", [1, 50], openInference("CHAIN"), { parent: "r", name: "Step 1" }),
      span("c", [2, 9], openInference("LLM", { "llm.model_name": "gpt-4o", "llm.token_count.prompt": 3 }), {
        parent: "s",
        name: "OpenAIServerModel.generate"
      }),
      span("t", [10, 11], openInference("TOOL", { "tool.name": "search" }), { parent: "s", name: "SimpleTool" })
    ],
    says: {
      name: "CodeAgent",
      participants: ["CodeAgent"],
      finalAnswer: "42",
      tools: [{ name: "search", agent: "CodeAgent", ok: true }]
    }
  },
  "Agno: a team whose nodes have numbers": {
    spans: [
      span(
        "team",
        [0, 99],
        openInference("AGENT", { "graph.node.id": "0f8e4c1a9b7d6e5f", "graph.node.name": "Team" }),
        {
          name: "Team.run"
        }
      ),
      span(
        "m",
        [1, 40],
        openInference("AGENT", {
          "graph.node.id": "1a8e4c1a9b7d6e5f",
          "graph.node.name": "Finance Agent",
          "graph.node.parent_id": "0f8e4c1a9b7d6e5f"
        }),
        { parent: "team", name: "Finance Agent.run" }
      )
    ],
    says: { participants: ["Finance Agent", "Team"], handoffs: ["Team > Finance Agent"] }
  },
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
      name: "RAG.forward",
      participants: ["shop"],
      finalAnswer: "because",
      calls: [call("shop", usage(2, 0), "emb"), call("shop", usage(7, 0))],
      tools: [{ name: "Retriever", agent: "shop", ok: true }]
    }
  },
  "AutoGen: roots that link to each other in one run": {
    spans: [
      span("p1", [0, 9], { "messaging.operation": "process" }),
      span("a", [1, 8], agent("writer"), { parent: "p1" }),
      span(
        "p2",
        [10, 19],
        { "messaging.operation": "process" },
        {
          traceId: "1".repeat(32),
          links: [{ traceId: TRACE_ID, spanId: spanId("a"), attributes: {} }]
        }
      ),
      span("b", [11, 18], agent("critic"), { parent: "p2", traceId: "1".repeat(32) })
    ],
    says: { participants: ["critic", "writer"], status: "completed" }
  },
  "Semantic Kernel: an older operation and a handoff by a plugin": {
    spans: [
      span("a", [0, 50], agent("triage"), { name: "invoke_agent triage" }),
      span("c", [1, 9], { ...chat(10, 2), "gen_ai.operation.name": "chat.completions" }, { parent: "a" }),
      span("t", [10, 11], tool("Handoff-transfer_to_refund"), { parent: "a" })
    ],
    says: { participants: ["triage"], handoffs: ["triage > refund"], calls: [call("triage", usage(10, 2))], tools: [] }
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
}

describe("shapes of emitters without a recording", () => {
  it.each(Object.entries(shapes))("%s", (_, { says, spans }) => {
    const found: Readonly<Record<string, unknown>> = { ...summaryOf(runStory([{ at: 1_000, telemetry: spans }])) }
    const compared = Object.fromEntries(Object.keys(says).map((key) => [key, found[key]]))
    assert.deepStrictEqual(compared, { ...says })
  })
})
