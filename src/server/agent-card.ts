/** The agent's public card, made from what the agent and the server say of themselves. Spec §4.4, §8. */

import { supportedVersions } from '../protocol/service-parameters.js'
import type { AgentCard, AgentInterface, AgentSkill } from '../protocol/wire.js'
import type { Agent } from '../runtime/agent.js'
import { onlySkillId, Skill } from '../runtime/skill.js'
import type { Auth } from './authenticate.js'
import type { Mounts, Scopes } from './options.js'

interface CardOptions {
  readonly agent: Agent
  readonly auth: Auth
  /** Base URL as callers know it. */
  readonly url: string
  readonly mounts: Required<Mounts>
  readonly scopes: Scopes
  /** Whether push configurations are taken and delivered to. */
  readonly push: boolean
}

export function agentCard({ agent, auth, url, mounts, scopes, push }: CardOptions): AgentCard {
  const base = url.replace(/\/+$/, '')
  const at = (protocolBinding: string, path: string): AgentInterface => ({
    url: base + path,
    protocolBinding,
    protocolVersion: supportedVersions[0] ?? '',
  })
  const schemes = Object.keys(auth.schemes)
  return {
    name: agent.name,
    description: agent.description,
    supportedInterfaces: [at('JSONRPC', mounts.jsonRpc), at('HTTP+JSON', mounts.httpJson)],
    ...(agent.provider && { provider: agent.provider }),
    version: agent.version,
    ...(agent.documentationUrl !== undefined && { documentationUrl: agent.documentationUrl }),
    ...(agent.iconUrl !== undefined && { iconUrl: agent.iconUrl }),
    capabilities: {
      streaming: true,
      pushNotifications: push,
      ...(agent.extensions && { extensions: agent.extensions }),
      extendedAgentCard: agent.extendedCard !== undefined,
    },
    ...(schemes.length > 0 && {
      securitySchemes: auth.schemes,
      securityRequirements: schemes.map((name) => ({ schemes: { [name]: { list: scopes['*'] ?? [] } } })),
    }),
    defaultInputModes: agent.inputModes,
    defaultOutputModes: agent.outputModes,
    skills: agent.skills ? Object.entries(agent.skills).flatMap(([id, one]) => skillOf(id, one)) : [onlySkill(agent)],
  }
}

function skillOf(id: string, made: Skill): readonly AgentSkill[] {
  const info = Skill.definitionOf(made)?.info
  return info ? [{ id, ...info, tags: info.tags && info.tags.length > 0 ? info.tags : [id] }] : []
}

/** An agent of one function has one skill: what the agent is for. */
function onlySkill({ name, description, tags = [], examples }: Agent): AgentSkill {
  const id = onlySkillId(name)
  return { id, name, description, tags: tags.length > 0 ? tags : [id], ...(examples && { examples }) }
}
